/** The words of a scenario. */
import { textOf } from '../../../src/kernel/message.ts'
import type { MessageLane, PendingPolicy } from '../../../src/kernel/input.ts'
import { stepOf } from './steps.ts'
import type { CallDecision } from '../../../src/runtime/define/plugin.ts'
import type { PostOptions, SessionStatus } from '../../../src/runtime/session.ts'
import type { Locale } from '../../../src/runtime/wording.ts'
import { turnOutcome } from '../../../src/testing/sim/facts.ts'
import { messageLine } from '../message-line.ts'
import type { Behaviour, ToolSetup } from '../tools.ts'
import { LEASE_MS } from '../world.ts'
import type { Scenario } from './scenario.ts'
import { msOf, optionsOf, splitWord, type Parsed } from './words.ts'

type Command = (scenario: Scenario, rest: string, body: readonly string[]) => Promise<void> | void

export const COMMANDS: Readonly<Record<string, Command>> = {
  // ── before it begins ───────────────────────────────────────────────────────────────────────────────────────────────
  /** Steps of the model, one a line. */
  script: ({ steps }, _rest, body) => void steps.push(...body.map(stepOf)),
  /** The step that was cut off is not played again. */
  skip: (scenario) => void scenario.skipped++,
  tool: addTool,
  limits(scenario, rest) {
    const { options } = optionsOf(rest)
    const values = Object.entries(options).map(([key, value]) => [key, /^\d+$/.test(value) ? Number(value) : value])
    scenario.limits = { ...scenario.limits, ...(Object.fromEntries(values) as object) }
  },
  locale: (scenario, rest) => void (scenario.locale = rest as Locale),
  rule: setRule,

  // ── verbs ──────────────────────────────────────────────────────────────────────────────────────────────────────────
  async send(scenario, rest) {
    const { options, rest: text } = optionsOf(rest)
    await (await scenario.handle()).send(text, posted(options))
  },
  async steer(scenario, rest) {
    const { options, rest: text } = optionsOf(rest, ['now'])
    await (await scenario.handle()).steer(text, { ...posted(options), promptness: 'now' in options ? 'now' : 'gate' })
  },
  async note(scenario, rest) {
    const { options, rest: text } = optionsOf(rest)
    await (await scenario.handle()).note(text, posted(options))
  },
  async abort(scenario, rest) {
    const { options, rest: reason } = optionsOf(rest)
    const { pending = 'keep', grace } = options
    const more = grace === undefined ? {} : { graceMs: msOf(grace) }
    await (await scenario.handle()).abort({ reason: reason || 'stop', pending: pending as PendingPolicy, ...more })
  },
  async approve(scenario, rest) {
    const { options, rest: call } = optionsOf(rest, ['always'])
    const bound = options['hash'] === undefined ? {} : { argsHash: options['hash'] }
    await (await scenario.handle()).approve(call, { always: 'always' in options, ...bound })
  },
  async deny(scenario, rest) {
    const [call, reason] = splitWord(rest)
    await (await scenario.handle()).deny(call, reason === '' ? {} : { reason })
  },
  async answer(scenario, rest) {
    const { options, rest: text } = optionsOf(rest, ['failed'])
    const [call, content] = splitWord(text)
    await (await scenario.handle()).answer(call, content, { error: 'failed' in options })
  },
  resume: async (scenario) => void (await (await scenario.handle()).resume()),
  edit: (scenario, rest) => onQueue(scenario, rest, (queue, id, text) => queue.edit(id, text)),
  convert: (scenario, rest) => onQueue(scenario, rest, (queue, id, lane) => queue.convert(id, lane as MessageLane)),
  withdraw: (scenario, rest) => onQueue(scenario, rest, (queue, id) => queue.withdraw(id)),
  move: (scenario, rest) =>
    onQueue(scenario, rest, (queue, id, before) => queue.move(id, before === '' ? {} : { before })),

  // ── what happens to it ─────────────────────────────────────────────────────────────────────────────────────────────
  advance: (scenario, rest) => scenario.world.clock.advance(msOf(rest)),
  /** Ends the oldest hanging body of a tool. */
  settle(scenario, rest) {
    const [name, how] = splitWord(rest)
    scenario.tools.hanging(name).settle(behaviourOf(how) as never)
  },
  open: async (scenario) => void (await scenario.open()),
  /** Closes the process; `within`: goes on with the next command after so long, while it is still closing. */
  async close(scenario, rest) {
    const { within } = optionsOf(rest).options
    const closing = running(scenario).harness.close()
    if (within === undefined) await scenario.world.within(closing)
    else await scenario.world.clock.advance(msOf(within))
  },
  /** The process dies at this instant; its lease stays. */
  kill: (scenario) => running(scenario).mortal.die(),
  /** It dies, its lease runs out, and another process opens the session. */
  async crash(scenario, rest) {
    const { options } = optionsOf(rest)
    await scenario.world.crash(running(scenario), options['down'] === undefined ? LEASE_MS : msOf(options['down']))
    await scenario.open()
  },
  /** The process cannot reach the store any more. */
  cut: (scenario) => running(scenario).mortal.cut(true),
  mend: (scenario) => running(scenario).mortal.cut(false),

  // ── looking ────────────────────────────────────────────────────────────────────────────────────────────────────────
  async status(scenario) {
    scenario.lines.push(statusLine(await (await scenario.handle()).status()))
  },
  async queue(scenario) {
    for (const input of await (await scenario.handle()).queue.list()) {
      scenario.lines.push(
        `${input.id} ${input.lane} ${input.lane === 'control' ? input.control.kind : JSON.stringify(textOf(input.content))}`,
      )
    }
  },
  async receipt(scenario, id) {
    const state = await scenario.world.store.receipt('s' as never, id as never)
    scenario.lines.push(JSON.stringify(state))
  },
  usage: async (scenario) => void scenario.lines.push(JSON.stringify(await (await scenario.handle()).usage())),
  /** The idempotency key of each body that ran, with its fence. */
  keys: ({ tools, lines }) =>
    void lines.push(...tools.runs.map(({ tool, key, fence }) => `${tool} ${key} under fence ${fence}`)),
  /** What the model would see now, or saw in `turn.step`. */
  async context(scenario, rest) {
    const [turn, step] = rest.split('.').map(Number)
    const handle = await scenario.handle()
    const { messages } = await handle.context(rest === '' ? undefined : { turn: turn!, step: step! })
    scenario.lines.push(...messages.map(messageLine))
  },
}

const FLAGS = ['approval']

/** `tool name effect [approval] [timeout=5s] [needs=text] … behaviour` */
function addTool({ tools }: Scenario, rest: string): void {
  const [name, more] = splitWord(rest)
  if (more === 'gone') return tools.remove(name)
  if (tools.has(name)) return tools.behave(name, behaviourOf(more))
  const [effect, words] = splitWord(more)
  const { options, rest: behaviour } = optionsOf(words, FLAGS)
  tools.add(name, behaviourOf(behaviour), { effect: effect as NonNullable<ToolSetup['effect']>, ...setupOf(options) })
}

function setupOf(options: Parsed['options']): ToolSetup {
  const { timeout, needs, uses, guard, reconcile, approval } = options
  return {
    ...(approval === undefined ? {} : { approval: true }),
    ...(timeout === undefined ? {} : { timeoutMs: msOf(timeout) }),
    ...(needs === undefined ? {} : { needs }),
    ...(guard === undefined ? {} : { guard: guard as NonNullable<ToolSetup['guard']> }),
    ...(reconcile === undefined ? {} : { reconcile: reconcile === 'nothing' ? null : reconcile }),
    ...(uses === undefined ? {} : { resources: uses.split(',').map(resourceOf) }),
  }
}

/** `disk` is read, `disk!` is written. */
function resourceOf(text: string): NonNullable<ToolSetup['resources']>[number] {
  return text.endsWith('!') ? { name: text.slice(0, -1), mode: 'write' } : { name: text, mode: 'read' }
}

const BEHAVIOURS = ['returns', 'throws', 'retryable', 'defers', 'hangs', 'obeys']

function behaviourOf(text: string): Behaviour {
  const [kind, rest] = splitWord(text)
  if (!BEHAVIOURS.includes(kind)) throw new Error(`"${kind}" is nothing that a body does; it ${BEHAVIOURS.join(', ')}`)
  if (kind === 'hangs' || kind === 'obeys') return { kind }
  const { options, rest: said } = optionsOf(rest)
  const { expires } = options
  return { kind, text: said, ...(expires === undefined ? {} : { expiresInMs: msOf(expires) }) } as Behaviour
}

/** `rule gate refuse why`, `rule gate reject word why`, `rule inject text`, `rule stop veto 2 text`, `rule policy tool deny why`, `rule retry 5s`, `rule hang gate`, `rule throw gate`. */
function setRule({ rules }: Scenario, rest: string): void {
  rules.used = true
  const [what, more] = splitWord(rest)
  const [word, after] = splitWord(more)
  const [next, last] = splitWord(after)
  if (what === 'gate') {
    rules.refuse = word === 'refuse' ? after : null
    rules.reject = word === 'reject' ? { word: next, reason: last } : null
  } else if (what === 'inject') rules.inject = more === '' ? null : more
  else if (what === 'stop') rules.veto = { left: next === 'always' ? Infinity : Number(next), message: last }
  else if (what === 'policy') rules.policy.set(word, decisionOf(next, last))
  else if (what === 'retry') rules.retryInMs = word === 'never' ? null : msOf(word)
  else if (what === 'hang') rules.hanging = word === '' ? null : word
  else if (what === 'throw') rules.throwing = word === '' ? null : word
  else throw new Error(`there is no rule "${what}"`)
}

function decisionOf(kind: string, text: string): CallDecision {
  if (kind === 'rewrite') return { kind: 'allow', args: JSON.parse(text) as never }
  const { options, rest } = optionsOf(text)
  const expiry = options['expires'] === undefined ? {} : { expiresInMs: msOf(options['expires']) }
  return kind === 'allow' ? { kind } : { kind: kind as 'ask' | 'deny', reason: rest, ...expiry }
}

function posted({ id, expires }: Parsed['options']): PostOptions {
  return { ...(id === undefined ? {} : { id }), ...(expires === undefined ? {} : { expiresInMs: msOf(expires) }) }
}

async function onQueue(
  scenario: Scenario,
  rest: string,
  change: (queue: Awaited<ReturnType<Scenario['handle']>>['queue'], id: string, text: string) => Promise<void>,
): Promise<void> {
  const [id, text] = splitWord(rest)
  await change((await scenario.handle()).queue, id, text)
}

function running({ process }: Scenario): NonNullable<Scenario['process']> {
  if (process === null) throw new Error('no process runs; open one first')
  return process
}

function statusLine(status: SessionStatus): string {
  switch (status.kind) {
    case 'idle':
      return 'idle'
    case 'held':
      return `held after ${turnOutcome(status.outcome)}`
    case 'running':
      return `running ${status.turn}.${status.step}`
    case 'waiting':
      return [
        'waiting',
        ...status.asks.map(
          (ask) => `${ask.call} ${ask.kind} ${ask.tool} ${JSON.stringify(ask.args)} ${JSON.stringify(ask.reason)}`,
        ),
      ].join('\n  ')
  }
}
