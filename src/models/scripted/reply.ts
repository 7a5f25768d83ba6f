/** What a step says, as chunks and as a reply. */
import type { Usage } from '../../kernel/failure.ts'
import { noUsage } from '../../kernel/failure.ts'
import type { ModelChunk, ModelEnd, ModelReply } from '../../runtime/ports.ts'
import { borderAt } from '../../util/wellformed.ts'
import { replayState } from './replay.ts'
import type { EmitCall, ScriptStep, Stop } from './script.ts'

type ReplyChunk = Exclude<ModelChunk, ModelEnd>

/** A step worked out: its chunks, and what they add up to. */
export interface Speech {
  readonly chunks: readonly ReplyChunk[]
  readonly parts: readonly ModelReply['parts'][number][]
  readonly calls: readonly ModelReply['calls'][number][]
}

/** Works out a step. `seed` tells the ids of its calls from those of other steps. */
export function speechOf(step: ScriptStep, seed: number): Speech {
  const chunks: ReplyChunk[] = []
  const parts: ModelReply['parts'][number][] = []
  const calls: ModelReply['calls'][number][] = []
  for (const part of step.emit ?? []) {
    if ('call' in part) {
      const index = calls.length
      const { name, id = `call_${seed}_${index}` } = part.call
      const args = argsOf(part.call)
      const [first = '', ...rest] = pieces(args, step.stream?.argChunk)
      parts.push({ type: 'call', index })
      calls.push({ providerId: id, name, args })
      chunks.push({ type: 'call', index, name, args: first })
      for (const piece of rest) chunks.push({ type: 'call', index, args: piece })
      continue
    }
    if ('redacted' in part) continue
    const [type, text] = 'text' in part ? (['text', part.text] as const) : (['reasoning', part.reasoning] as const)
    if (text !== '') parts.push({ type, text })
    for (const piece of pieces(text, step.stream?.chunk)) chunks.push({ type, text: piece })
  }
  return { chunks, parts, calls }
}

/** The terminal of a step that was delivered whole. */
export function delivered(step: ScriptStep, { parts, calls }: Speech, label: string): ModelEnd {
  const stop = stopOf(step)
  const rawFinish = stop.startsWith('raw:') ? stop.slice(4) : stop
  const reply = { parts, calls, replay: replayState(label, { parts, calls }), usage: usageOf(step), rawFinish }
  return { type: 'end', kind: KIND_OF_STOP[stop as KnownStop] ?? 'unknown-stop', reply }
}

/** How the step's reply ends. */
export function stopOf(step: ScriptStep): Stop {
  if (step.stop !== undefined) return step.stop
  const calls = (step.emit ?? []).flatMap((part) => ('call' in part ? [part.call] : []))
  return calls.some(({ cut }) => cut === true) ? 'length' : calls.length > 0 ? 'tool' : 'end'
}

/** The usage that a step reports, null where it says nothing. */
export function usageOf(step: ScriptStep): Usage | null {
  return step.usage === undefined ? null : { ...noUsage, ...step.usage }
}

type KnownStop = Exclude<Stop, `raw:${string}`>

const KIND_OF_STOP: { readonly [Word in KnownStop]: Extract<ModelEnd, { readonly reply: ModelReply }>['kind'] } = {
  end: 'done',
  tool: 'calls',
  length: 'max-tokens',
  refusal: 'refused',
  filter: 'refused',
  pause: 'pause',
  context: 'context-limit',
  sequence: 'done',
}

/** The argument text of a call, as much of it as arrives. */
export function argsOf(call: EmitCall): string {
  const whole = call.raw ?? JSON.stringify(call.args ?? {})
  return call.cut === true ? whole.slice(0, borderAt(whole, Math.ceil(whole.length / 2))) : whole
}

/** The text in pieces of so many units; no pair is cut. */
export function pieces(text: string, size: number | undefined): readonly string[] {
  if (text === '') return []
  if (size === undefined || size >= text.length) return [text]
  const all: string[] = []
  for (let from = 0; from < text.length;) {
    const cut = borderAt(text, from + Math.max(1, size))
    // A pair that is longer than a piece is a piece.
    const to = cut > from ? cut : from + 2
    all.push(text.slice(from, to))
    from = to
  }
  return all
}
