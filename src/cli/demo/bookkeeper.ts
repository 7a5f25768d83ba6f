/**
 * The agent of the demo. Its model is a script, so that no key is needed; but it answers by what stands in the request: it adds up
 * what its tools read, obeys the steer because the steer is there, and looks before it repeats because it was told `unknown`. Where
 * it stands is told by the replies in the context, so a new process goes on. What a step expects must be in its request, else the
 * model call fails, and with it the demo: that is how a harness that forgot a steer or an outcome is found out.
 */
import { textOf } from '../../kernel/message.ts'
import { scriptedModel, type EmitCall, type ScriptStep } from '../../models/scripted/index.ts'
import { agent, type AgentSpec } from '../../runtime/define/agent.ts'
import type { ModelRequest } from '../../runtime/ports.ts'
import { listFilesTool, readFileTool, writeFileTool } from '../../tools/files/index.ts'
import { Workspace } from '../../tools/workspace.ts'
import { isPlainObject } from '../../util/json.ts'
import type { Desk } from './desk.ts'
import { payTool } from './pay.ts'
import { decimal, money, type Scene } from './scene.ts'

/** The agent with its tools on this desk. */
export function bookkeeper(desk: Desk): AgentSpec {
  const workspace = new Workspace(desk.workspace)
  const files = { locale: desk.locale }
  const moves = movesOf(desk.scene)
  return agent({
    name: 'bookkeeper',
    model: scriptedModel((request) => moves[repliesIn(request)]?.(new Seen(request, desk.scene)) ?? null, {
      name: 'bookkeeper',
    }),
    instructions: desk.scene.instructions,
    tools: [listFilesTool(workspace), readFileTool(workspace), writeFileTool(workspace, files), payTool(desk)],
  })
}

/** The n-th answer of the model, made from what it was sent. */
type Move = (seen: Seen) => ScriptStep

function movesOf(scene: Scene): readonly Move[] {
  return [...firstTurn(scene), ...secondTurn(scene)]
}

function firstTurn({ answers, bank, folder, payee, request: asked, steer }: Scene): readonly Move[] {
  return [
    () => ({
      name: 'look',
      expect: { lastUser: asked, tools: ['list_files', 'pay', 'read_file', 'write_file'] },
      emit: [{ text: answers.look }, call('list_files', { path: folder })],
    }),
    (seen) => ({
      name: 'read the oldest',
      expect: { outcomes: ['ok'], prefixSame: true },
      emit: [{ text: answers.first }, ...seen.files.slice(0, 1).map(read)],
    }),
    (seen) => ({
      name: 'hear the steer',
      expect: { lastUser: steer, outcomes: ['ok'], prefixSame: true },
      emit: [{ text: answers.rest }, ...seen.wanted.filter((path) => !seen.readings.has(path)).map(read)],
    }),
    (seen) => ({
      name: 'pay',
      expect: { contains: [steer], outcomes: ['ok', 'ok'], prefixSame: true },
      emit: [
        { text: answers.pay(seen.shownTotal) },
        call('pay', { to: payee, amount: decimal(seen.total), reference: seen.reference }),
      ],
    }),
    () => ({
      name: 'learn that it is unknown',
      expect: { lastOutcome: 'unknown', contains: [steer] },
      emit: [{ text: answers.verify }, read(bank)],
    }),
    (seen) => ({
      name: 'conclude from the record',
      expect: { outcomes: ['ok'], contains: [steer], prefixSame: true },
      emit: [{ text: seen.isPaid ? answers.found(seen.shownTotal, seen.reference) : answers.missing(seen.reference) }],
    }),
  ]
}

function secondTurn({ answers, followup, report }: Scene): readonly Move[] {
  return [
    (seen) => ({
      name: 'write the report',
      expect: { lastUser: followup, prefixSame: true },
      emit: [
        { text: answers.report },
        call('write_file', { path: report, content: answers.reportText(seen.months, seen.shownTotal) }),
      ],
    }),
    () => ({
      name: 'end',
      expect: { outcomes: ['ok'], prefixSame: true },
      emit: [{ text: answers.done }],
    }),
  ]
}

const call = (name: string, args: NonNullable<EmitCall['args']>): { readonly call: EmitCall } => ({
  call: { name, args },
})
const read = (path: string): { readonly call: EmitCall } => call('read_file', { path })

function repliesIn({ messages }: ModelRequest): number {
  let replies = 0
  for (const message of messages) if (message.role === 'assistant') replies++
  return replies
}

/** What the script makes of a request. */
class Seen {
  /** Text by path of every file that was read, as the results say. */
  readonly readings: ReadonlyMap<string, string>
  /** The bills that `list_files` found, oldest first. */
  readonly files: readonly string[]
  readonly #steered: boolean
  readonly #scene: Scene

  constructor({ messages }: ModelRequest, scene: Scene) {
    const all = messages.toArray()
    const paths = new Map(all.flatMap((message) => (message.role === 'assistant' ? message.calls.map(pathOf) : [])))
    const results = all.filter((message) => message.role === 'tool').filter(({ outcome }) => outcome === 'ok')
    const reads = results.filter(({ name }) => name === 'read_file')
    const list = results.find(({ name }) => name === 'list_files')
    this.readings = new Map(reads.map(({ call: id, content }) => [paths.get(id) ?? '', textOf(content)]))
    this.files = textOf(list?.content ?? [])
      .split('\n')
      .toSorted()
    this.#steered = all.some((message) => message.role === 'user' && message.origin.kind === 'steer')
    this.#scene = scene
  }

  /** The files that count: all, or the last two once the steer has been heard. */
  get wanted(): readonly string[] {
    return this.#steered ? this.files.slice(-2) : this.files
  }

  get months(): readonly { readonly name: string; readonly total: string }[] {
    return this.wanted.map((path) => ({ name: monthOf(path), total: money(this.#sum(path), this.#scene) }))
  }

  /** In hundredths. */
  get total(): number {
    return this.wanted.reduce((sum, path) => sum + this.#sum(path), 0)
  }

  get shownTotal(): string {
    return money(this.total, this.#scene)
  }

  /** Names the payment at the bank. */
  get reference(): string {
    return [this.wanted.at(0), this.wanted.at(-1)].map((path) => monthOf(path ?? '')).join('..')
  }

  get isPaid(): boolean {
    const lines = (this.readings.get(this.#scene.bank) ?? '').split('\n')
    return lines.filter((line) => line.startsWith(`${this.reference},`)).length === 1
  }

  #sum(path: string): number {
    return sumOfBills(this.readings.get(path) ?? '')
  }
}

const monthOf = (path: string): string => /\d{4}-\d\d/.exec(path)?.[0] ?? path

function pathOf({ id, args }: { readonly id: string; readonly args: string }): [string, string] {
  const value: unknown = JSON.parse(args)
  return [id, isPlainObject(value) ? String(value['path']) : '']
}

/** The sum of the amounts in a file of bills (JSON, a Markdown table, else CSV), in hundredths. */
export function sumOfBills(text: string): number {
  return amountsOf(text).reduce((sum, amount) => sum + Math.round(amount * 100), 0)
}

function amountsOf(text: string): readonly number[] {
  if (text.startsWith('{'))
    return (JSON.parse(text) as { readonly bills: readonly { readonly amount: number }[] }).bills.map(
      ({ amount }) => amount,
    )
  const cells = text.split('\n').map(
    (line) =>
      line
        .split(line.startsWith('|') ? '|' : ',')
        .filter(Boolean)
        .at(-1)
        ?.trim() ?? '',
  )
  return cells.filter((cell) => /^[\d,]+\.\d\d$/.test(cell)).map((cell) => Number(cell.replaceAll(',', '')))
}
