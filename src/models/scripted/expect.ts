/** What a step demands of its request, so that a script fails when the harness forgot a steer or an outcome. */
import type { Message } from '../../kernel/message.ts'
import { textOf } from '../../kernel/message.ts'
import type { ModelRequest } from '../../runtime/ports.ts'
import { quoted } from '../../util/text.ts'
import { found, type Expectation, type Pattern } from './script.ts'
import type { RequestView } from './view.ts'

/** What the expectations are judged by, beside the request itself. */
interface Expected {
  /** What became of the opaque state of each reply in the context, in order. */
  readonly replays: (view: RequestView) => readonly ReplaySeen[]
  /** The session's request before this one; null: none was seen by this process. */
  readonly previous: ModelRequest | null
}

/** A reply that came back: whether its opaque state came with it, and what is wrong with that, in a sentence. */
export interface ReplaySeen {
  readonly isThere: boolean
  readonly problem: string | null
}

/** Every complaint about the request, each a sentence; none: it is as expected. */
export function complaints(expect: Expectation, view: RequestView, by: Expected): string[] {
  return [
    ...textComplaints(expect, view),
    ...resultComplaints(expect, view),
    ...shapeComplaints(expect, view, by),
    ...replayComplaints(expect, view, by),
  ]
}

function textComplaints(expect: Expectation, view: RequestView): string[] {
  const found_: string[] = []
  for (const pattern of expect.contains ?? [])
    if (!found(pattern, view.text)) found_.push(`the request lacks ${show(pattern)}`)
  for (const pattern of expect.absent ?? [])
    if (found(pattern, view.text)) found_.push(`the request has ${show(pattern)}, which must be absent`)
  found_.push(...mustHave('the system text', expect.system, () => view.request.system))
  found_.push(...mustHave('the last user message', expect.lastUser, () => view.lastUser))
  return found_
}

function resultComplaints(expect: Expectation, view: RequestView): string[] {
  const last = view.newResults.at(-1)
  const list = mustHave('the last tool result', expect.lastResult, () => textOf(last?.content ?? []))
  if (expect.lastOutcome !== undefined)
    list.push(...mustBe('the outcome of the last tool result', expect.lastOutcome, last?.outcome ?? 'none'))
  if (expect.outcomes !== undefined) {
    const outcomes = view.newResults.map((result) => result.outcome)
    list.push(...mustBe('the outcomes of the tool results', expect.outcomes.join(', '), outcomes.join(', ')))
  }
  for (const [tool, pattern] of Object.entries(expect.resultOf ?? {})) {
    list.push(
      ...mustHave(`the last result of "${tool}"`, pattern, () => textOf(view.lastResultOf(tool)?.content ?? [])),
    )
  }
  return list
}

function shapeComplaints(expect: Expectation, view: RequestView, by: Expected): string[] {
  const { request } = view
  const list: string[] = []
  if (expect.tools !== undefined) {
    list.push(...mustBe('the list of tools', expect.tools.toSorted().join(', '), view.toolNames.toSorted().join(', ')))
  }
  if (expect.toolChoice !== undefined) list.push(...mustBe('the tool choice', expect.toolChoice, request.toolChoice))
  if (expect.messages !== undefined)
    list.push(...mustBe('the number of messages', expect.messages, request.messages.length))
  const broken = expect.prefixSame === true && by.previous !== null ? prefixBreak(by.previous, request) : null
  if (broken !== null) list.push(`the request does not start with the one before it: ${broken} differs`)
  const own = expect.check?.(request)
  if (own !== undefined && own !== null) list.push(own)
  return list
}

function replayComplaints(expect: Expectation, view: RequestView, by: Expected): string[] {
  if (expect.replayExact !== true && expect.replayCount === undefined) return []
  const seen = by.replays(view)
  const count = seen.filter(({ isThere }) => isThere).length
  const list =
    expect.replayCount === undefined ? [] : mustBe('the number of replies with replay state', expect.replayCount, count)
  if (expect.replayExact !== true) return list
  return [...list, ...seen.flatMap(({ problem }) => problem ?? [])]
}

/** The first thing in which `next` does not continue `previous`, or null. */
function prefixBreak(previous: ModelRequest, next: ModelRequest): string | null {
  if (previous.system !== next.system) return 'the system text'
  if (previous.tools !== next.tools && JSON.stringify(previous.tools) !== JSON.stringify(next.tools))
    return 'the list of tools'
  for (let index = 0; index < previous.messages.length; index++) {
    if (!sameMessage(previous.messages.at(index), next.messages.at(index))) return `message ${index}`
  }
  return null
}

function sameMessage(one: Message | undefined, other: Message | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

function mustHave(what: string, pattern: Pattern | undefined, text: () => string): string[] {
  if (pattern === undefined || found(pattern, text())) return []
  return [`${what} lacks ${show(pattern)}; it is ${quoted(text())}`]
}

function mustBe(what: string, wanted: string | number, seen: string | number): string[] {
  return wanted === seen ? [] : [`${what} must be "${wanted}" and is "${seen}"`]
}

function show(pattern: Pattern): string {
  if (typeof pattern === 'string') return JSON.stringify(pattern)
  return typeof pattern === 'function' ? 'what its function asks for' : String(pattern)
}
