/** Plays one step: chunks, then exactly one terminal. */
import type { Failure, FailureKind, Usage } from '../../kernel/failure.ts'
import { noUsage } from '../../kernel/failure.ts'
import type { Clock, ModelChunk, ModelEnd, ModelReply, ModelRequest } from '../../runtime/ports.ts'
import { assertNever } from '../../util/assert.ts'
import { borderAt } from '../../util/wellformed.ts'
import { replayState } from './replay.ts'
import type { EmitCall, Fault, ScriptStep, Stop } from './script.ts'

export interface PlayOptions {
  readonly label: string
  readonly request: ModelRequest
  readonly signal: AbortSignal
  readonly clock: Clock | null
  readonly idleTimeoutMs: number | null
  /** The step is over: delivered whole, or its fault fired. Called right before the terminal. */
  consume(): void
}

/** The step as a stream. Contract: never throws; watches the signal at every wait; an aborted step is not consumed. */
export async function* play(step: ScriptStep, options: PlayOptions): AsyncGenerator<ModelChunk, void, undefined> {
  const { signal } = options
  const faultAt = step.fault?.kind === 'http' ? 0 : (step.fault?.after ?? Infinity)
  let shown = 0
  for (const chunk of chunksOf(step)) {
    if (shown >= faultAt) break
    if (!signal.aborted) await pause(step, options)
    if (signal.aborted) return yield aborted(shown > 0)
    shown++
    yield chunk
  }
  if (!signal.aborted) await pause(step, options)
  const fault = step.fault
  if (fault?.kind === 'stall' && !signal.aborted) await stall(options)
  if (signal.aborted) return yield aborted(shown > 0)
  options.consume()
  yield fault === undefined
    ? delivered(step, options)
    : { type: 'end', kind: 'error', failure: failureOf(fault, shown > 0), usage: usageOf(step) }
}

function* chunksOf(step: ScriptStep): Generator<Exclude<ModelChunk, ModelEnd>> {
  let calls = 0
  for (const part of step.emit ?? []) {
    if ('call' in part) {
      const index = calls++
      const [first = '', ...rest] = pieces(argsOf(part.call), step.stream?.argChunk)
      yield { type: 'call', index, name: part.call.name, args: first }
      for (const args of rest) yield { type: 'call', index, args }
    } else if ('text' in part) {
      for (const text of pieces(part.text, step.stream?.chunk)) yield { type: 'text', text }
    } else {
      for (const text of pieces(part.reasoning, step.stream?.chunk)) yield { type: 'reasoning', text }
    }
  }
}

function* pieces(text: string, size: number | undefined): Generator<string> {
  if (size === undefined || size >= text.length) {
    if (text !== '') yield text
    return
  }
  for (let from = 0; from < text.length;) {
    const cut = borderAt(text, from + Math.max(1, size))
    const to = cut > from ? cut : Math.min(text.length, from + 2)
    yield text.slice(from, to)
    from = to
  }
}

function delivered(step: ScriptStep, { label, request }: PlayOptions): ModelEnd {
  const parts: ModelReply['parts'][number][] = []
  const calls: ModelReply['calls'][number][] = []
  for (const part of step.emit ?? []) {
    if ('call' in part) {
      parts.push({ type: 'call', index: calls.length })
      const providerId = part.call.id ?? `call_${request.messages.length}_${calls.length}`
      calls.push({ providerId, name: part.call.name, args: argsOf(part.call) })
    } else if ('text' in part) {
      if (part.text !== '') parts.push({ type: 'text', text: part.text })
    } else if (part.reasoning !== '') parts.push({ type: 'reasoning', text: part.reasoning })
  }
  const cut = (step.emit ?? []).some((part) => 'call' in part && part.call.cut === true)
  const stop = step.stop ?? (cut ? 'length' : calls.length > 0 ? 'tool' : 'end')
  const reply = {
    parts,
    calls,
    replay: replayState(label, { parts, calls }),
    usage: usageOf(step),
    rawFinish: stop.replace(/^raw:/, ''),
  }
  return { type: 'end', kind: KIND_OF_STOP[stop as Exclude<Stop, `raw:${string}`>] ?? 'unknown-stop', reply }
}

type ReplyKind = Extract<ModelEnd, { readonly reply: ModelReply }>['kind']

const KIND_OF_STOP: { readonly [Word in Exclude<Stop, `raw:${string}`>]: ReplyKind } = {
  end: 'done',
  tool: 'calls',
  length: 'max-tokens',
  refusal: 'refused',
  filter: 'refused',
  pause: 'pause',
  context: 'context-limit',
  sequence: 'done',
}

function argsOf(call: EmitCall): string {
  const whole = call.raw ?? JSON.stringify(call.args ?? {})
  return call.cut === true ? whole.slice(0, borderAt(whole, Math.ceil(whole.length / 2))) : whole
}

function usageOf(step: ScriptStep): Usage | null {
  return step.usage === undefined ? null : { ...noUsage, ...step.usage }
}

// ── waiting ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A delay without a clock is refused before the step is played. */
async function pause(step: ScriptStep, { clock, signal }: PlayOptions): Promise<void> {
  const delay = step.stream?.delayMs ?? 0
  if (delay > 0) await sleep(clock, delay, signal)
}

/** Ends with the idle timeout, or with the abort. */
async function stall({ clock, idleTimeoutMs, signal }: PlayOptions): Promise<void> {
  await sleep(idleTimeoutMs === null ? null : clock, idleTimeoutMs ?? 0, signal)
}

/** Without a clock only the abort ends it. */
function sleep(clock: Clock | null, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      disarm?.()
      signal.removeEventListener('abort', over)
      resolve()
    }
    const disarm = clock?.after(ms, over)
    signal.addEventListener('abort', over, { once: true })
  })
}

// ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The terminal of a call whose signal has aborted. */
export function aborted(partial: boolean): ModelEnd {
  return {
    type: 'end',
    kind: 'aborted',
    failure: { kind: 'aborted', message: 'the call was aborted', retry: false, partial },
    usage: null,
  }
}

function failureOf(fault: Fault, partial: boolean): Failure {
  const kind = fault.failure ?? faultKind(fault)
  return {
    kind,
    message:
      fault.message ??
      `the script's ${fault.kind} fault${fault.status === undefined ? '' : ` with status ${fault.status}`}`,
    retry: RETRYABLE.has(kind),
    partial,
    ...(fault.status === undefined ? {} : { status: fault.status }),
    ...(fault.code === undefined ? {} : { code: fault.code }),
    ...(fault.retryAfter === undefined ? {} : { retryAfterMs: fault.retryAfter * 1000 }),
  }
}

const RETRYABLE: ReadonlySet<FailureKind> = new Set([
  'idle-timeout',
  'overloaded',
  'rate-limited',
  'protocol',
  'interrupted',
  'server',
  'network',
])

function faultKind(fault: Fault): FailureKind {
  switch (fault.kind) {
    case 'cut':
    case 'cleanEnd':
      return 'interrupted'
    case 'garbage':
      return 'protocol'
    case 'stall':
      return 'idle-timeout'
    case 'http':
    case 'midError':
      return kindOfStatus(fault.status ?? 500)
    default:
      return assertNever(fault.kind, 'fault')
  }
}

function kindOfStatus(status: number): FailureKind {
  if (status === 401 || status === 403) return 'auth'
  if (status === 402) return 'quota'
  if (status === 429) return 'rate-limited'
  if (status === 503 || status === 529) return 'overloaded'
  return status >= 500 ? 'server' : 'invalid-request'
}
