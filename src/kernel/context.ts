/**
 * The projection from log to context. The context grows only here, and only when a step ends and at gates (I4), so every context
 * is a safe boundary: each call is answered, in request order, directly after its reply (C2).
 */
import type { EventOf } from './events.ts'
import type { AssistantMessage, Message, Part, ReplyPart, TranscriptCall, UserMessage } from './message.ts'
import type { Call, State, Step } from './state.ts'

/** Appends to the context and keeps its size. */
function push(state: State, message: Message): void {
  state.context.push(message)
  state.contextSize += sizeOf(message)
}

/** UTF-16 units of text in a message. Images count as a flat 4,000. */
export function sizeOf(message: Message): number {
  if (message.role !== 'assistant') return partsSize(message.content)
  let size = 0
  for (const part of message.parts) if (part.type !== 'call') size += part.text.length
  for (const call of message.calls) size += call.name.length + call.args.length
  return size
}

function partsSize(parts: readonly Part[]): number {
  let size = 0
  for (const part of parts) size += part.type === 'text' ? part.text.length : 4_000
  return size
}

/** What waited for a gate enters: late outcomes before the inputs of that gate (C5). */
export function projectLate(state: State): void {
  if (state.late.length === 0) return
  for (const message of state.late.splice(0)) push(state, message)
}

export function projectInput(state: State, event: EventOf<'input.entered'>): void {
  projectLate(state)
  const message: UserMessage = { role: 'user', content: event.content, origin: event.origin, input: event.input }
  push(state, message)
  if (event.origin.kind === 'user' || event.origin.kind === 'steer') state.turn?.directives.push(message)
}

export function projectVeto(state: State, event: EventOf<'stop.vetoed'>): void {
  push(state, { role: 'user', content: event.content, origin: { kind: 'plugin', name: event.by } })
}

/** A finished step: the reply, then one result per call. A step without a reply leaves nothing (T10). */
export function projectStep(state: State, step: Step): void {
  const { reply } = step
  if (reply === null) return
  const calls = ownCalls(step)
  const message = assistantMessage(reply, calls)
  if (message === null) return
  push(state, message)
  for (const call of calls) {
    push(state, {
      role: 'tool',
      call: call.record.id,
      name: call.record.name,
      outcome: call.outcome!.kind,
      content: call.content,
    })
  }
}

/** The calls of the reply itself: inner calls stay between their parent and the world. */
function ownCalls({ calls }: Step): readonly Call[] {
  return calls.every(isOwn) ? calls : calls.filter(isOwn)
}

const isOwn = (call: Call): boolean => call.parent === null

const saysSomething = (part: ReplyPart): boolean => part.type === 'call' || part.text !== ''

/** Null where there is nothing that a wire would take: no text and no call. */
function assistantMessage(reply: NonNullable<Step['reply']>, calls: readonly Call[]): AssistantMessage | null {
  const parts = reply.parts.every(saysSomething) ? reply.parts : reply.parts.filter(saysSomething)
  if (!parts.some((part) => part.type !== 'reasoning')) return null
  return {
    role: 'assistant',
    parts,
    calls: calls.map(transcriptCall),
    ...(reply.replay === null ? {} : { replay: reply.replay }),
  }
}

function transcriptCall({ record }: Call): TranscriptCall {
  const { id, name, providerId } = record
  return {
    id,
    name,
    providerId,
    args: record.args === undefined || isBlankArgs(record.rawArgs) ? '{}' : record.rawArgs,
  }
}

/** Blank arguments mean none (C8). */
export function isBlankArgs(raw: string): boolean {
  if (raw.length > 2 && raw.startsWith('{')) return false
  const text = raw.trim()
  return text === '' || text === 'null'
}

/** The summary takes the place of the first `upTo` messages; the running turn's directives in that range stay, verbatim, behind it (X3, X4). */
export function projectCompaction(state: State, event: EventOf<'context.compacted'>): void {
  const directives = new Set<Message>(state.turn?.directives)
  const kept = state.context.slice(0, event.upTo).filter((message) => directives.has(message))
  const tail = state.context.slice(event.upTo)
  state.context = []
  state.contextSize = 0
  push(state, { role: 'user', content: event.summary, origin: { kind: 'system', name: 'summary' } })
  for (const message of [...kept, ...tail]) push(state, message)
}
