/** From what a model said to the facts that are logged: calls get our ids, arguments are parsed once, usage is never left open. */
import type { CallRecord, EventOf, Finish } from '../../kernel/events.ts'
import { isBlankArgs, sizeOf } from '../../kernel/context.ts'
import type { Failure, Usage } from '../../kernel/failure.ts'
import { fingerprintOf, guardModeOf } from '../../kernel/guard.ts'
import { replyCallId } from '../../kernel/ids.ts'
import type { ReplyPart } from '../../kernel/message.ts'
import { undeclaredResources } from '../../kernel/plan.ts'
import type { State } from '../../kernel/state.ts'
import { isPlainObject } from '../../util/json.ts'
import { messageOf } from '../../util/text.ts'
import { isFiniteThroughout, unreadableJson } from '../borders.ts'
import type { ModelEnd, ModelReply } from '../ports.ts'
import type { Run } from './run.ts'
import type { Args } from '../define/tool.ts'

type ReplyEnd = Extract<ModelEnd, { reply: ModelReply }>

/** Units of text per token, about: used only where a provider reports no usage. */
const UNITS_PER_TOKEN = 4

/** A reply in which nothing was said and nothing asked for is a failed attempt, whatever its finish says (T3, case 037). */
export function emptyFailure(end: ReplyEnd): Failure | null {
  const { calls, parts, rawFinish } = end.reply
  if (end.kind !== 'done' && end.kind !== 'calls') return null
  if (calls.length > 0 || parts.some((part) => part.type === 'text' && part.text.trim() !== '')) return null
  return { kind: 'empty-response', message: `the model ended with "${rawFinish}" and said nothing`, retry: true }
}

/** The event of a finished reply. */
export function replyEvent(
  run: Run,
  end: ReplyEnd,
  attempt: number,
): Omit<EventOf<'reply.completed'>, 'seq' | 'at' | 'fence' | 'turn' | 'step'> {
  const { reply } = end
  const turn = run.state.turn!.n
  const step = run.state.step!.n
  const calls = reply.calls.map(({ name, args, providerId }, index) =>
    makeCallRecord(run, replyCallId(turn, step, index), { name, rawArgs: args, providerId }),
  )
  const parts = reply.parts.map((part): ReplyPart =>
    part.type === 'call' ? { type: 'call', call: replyCallId(turn, step, part.index) } : part,
  )
  const { route, binding } = run.agent.model
  return {
    type: 'reply.completed',
    attempt,
    finish: finishOf(end),
    rawFinish: reply.rawFinish,
    parts,
    calls,
    usage: reply.usage ?? estimateUsage(run.state, reply),
    ...(reply.replay === null ? {} : { replay: { state: reply.replay, route, binding, epoch: run.state.epoch!.n } }),
  }
}

/** Calls decide what a good end is called: some providers say `stop` beside them, some `tool_calls` without any. */
function finishOf(end: ReplyEnd): Finish {
  if (end.kind !== 'done' && end.kind !== 'calls') return end.kind
  return end.reply.calls.length > 0 ? 'calls' : 'done'
}

/** What is recorded of a call: its arguments, parsed once for policy and body alike (C8), and what its tool declares about them. */
export function makeCallRecord(
  run: Run,
  id: CallRecord['id'],
  call: Pick<CallRecord, 'name' | 'rawArgs' | 'providerId'>,
): CallRecord {
  const tool = run.agent.tools.get(call.name)
  const args = parseArgs(call.rawArgs)
  const effect = tool?.effect ?? 'write'
  const { name, rawArgs, providerId } = call
  const isKnown = tool !== undefined && args !== null
  const declared = {
    providerId,
    effect,
    resources: isKnown ? tool.resources(args) : undeclaredResources(effect),
    fingerprint: fingerprintOf(name, args ?? rawArgs, isKnown ? tool.identity(args) : null),
  }
  const record = args === null ? { id, name, rawArgs, ...declared } : { id, name, rawArgs, args, ...declared }
  return tool === undefined || tool.guard === guardModeOf(effect) ? record : { ...record, guard: tool.guard }
}

/** Where a number might be too large to be one. */
const LARGE_EXPONENT = /\d[eE]\+?\d{3}/

/** Null: no JSON object. Never repaired, never guessed. */
function parseArgs(raw: string): Args | null {
  if (isBlankArgs(raw)) return {}
  if (unreadableJson(raw) !== null) return null
  try {
    const value: unknown = JSON.parse(raw)
    return isPlainObject(value) && (!LARGE_EXPONENT.test(raw) || isFiniteThroughout(value)) ? (value as Args) : null
  } catch {
    return null
  }
}

/** What went wrong with arguments that could not be read. */
export function argsProblem(raw: string): string {
  const unreadable = unreadableJson(raw)
  if (unreadable !== null) return unreadable
  try {
    const value: unknown = JSON.parse(raw)
    return Array.isArray(value) ? 'it is an array' : `it is a ${typeof value}`
  } catch (error) {
    return messageOf(error)
  }
}

/** Charged where the provider said nothing, and marked as an estimate (B1). */
export function estimateUsage(state: State, reply: Pick<ModelReply, 'parts' | 'calls'> | string): Usage {
  const output =
    typeof reply === 'string'
      ? reply.length
      : sizeOf({ role: 'assistant', parts: textParts(reply), calls: [] }) + argsSize(reply)
  return {
    known: false,
    input: Math.ceil((state.contextSize + (state.epoch?.content.system.length ?? 0)) / UNITS_PER_TOKEN),
    cacheRead: 0,
    cacheWrite: 0,
    output: Math.ceil(output / UNITS_PER_TOKEN),
    reasoning: 0,
  }
}

function textParts(reply: Pick<ModelReply, 'parts'>): ReplyPart[] {
  return reply.parts.filter((part): part is Exclude<typeof part, { type: 'call' }> => part.type !== 'call')
}

function argsSize(reply: Pick<ModelReply, 'calls'>): number {
  return reply.calls.reduce((size, call) => size + call.name.length + call.args.length, 0)
}
