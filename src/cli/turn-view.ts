/**
 * Shows a session's work as it comes: events and live deltas in, lines out. Owns what was shown of the running reply and how the
 * last turn ended; asks nothing of the session.
 */
import type { CallRecord, Event, EventOf } from '../kernel/events.ts'
import { addUsage, noUsage, type Usage } from '../kernel/failure.ts'
import type { CallId, InputId } from '../kernel/ids.ts'
import { textOf } from '../kernel/message.ts'
import type { Goal, TurnOutcome } from '../kernel/outcome.ts'
import type { State } from '../kernel/state.ts'
import type { Live, Watched } from '../runtime/session.ts'
import type { Cli } from './cli.ts'
import { argsLine, callLine, contentLine, oneLine, outcomeLine, unmarked } from './describe.ts'
import { visible } from './visible.ts'

export class TurnView {
  /** Seq of the last event shown. */
  seq: number
  /** How the last turn that was seen ended; null: none has. */
  outcome: (TurnOutcome & { readonly goal: Goal }) | null = null
  /** The answer of the last turn: its last reply that asked for no call. */
  text = ''
  /** Of the model calls that were seen. */
  usage: Usage = noUsage
  /** A turn is open, as far as was seen. */
  isWorking: boolean
  /** Inputs whose entering needs no line: whoever is at the keyboard has just typed them. */
  readonly #own: ReadonlySet<InputId>
  readonly #cli: Cli
  readonly #names = new Map<CallId, string>()
  /** A step is open: what enters now is in its request. Else it is in that of the next one. */
  #isInStep: boolean
  #shown = { key: '', text: '' }
  /** The reply that may be the turn's answer was printed as it came. */
  #isTextShown = false

  /** Shows what comes after this state of the session. */
  constructor(
    cli: Cli,
    { seq, turn, step }: Pick<State, 'seq' | 'turn' | 'step'>,
    own: ReadonlySet<InputId> = new Set(),
  ) {
    this.#cli = cli
    this.#own = own
    this.seq = seq
    this.isWorking = turn !== null
    this.#isInStep = step !== null
    for (const { record } of step?.calls ?? []) this.#names.set(record.id, nameOf(record))
  }

  see(seen: Watched): void {
    if (seen.kind === 'live') return this.#live(seen.live)
    this.#cli.out.line({ type: 'event', event: seen.event })
    this.#event(seen.event)
    this.seq = seen.event.seq
  }

  #live(live: Live): void {
    const { out, texts } = this.#cli
    switch (live.type) {
      case 'text':
        out.line(live)
        return this.#delta(keyOf(live), live.text)
      case 'reasoning':
        return out.line(live)
      case 'reset':
        out.line(live)
        if (this.#shown.key === keyOf(live) && this.#shown.text !== '') out.notice('reset', texts.voided)
        return
      case 'progress':
        out.line(live)
        return out.progress(`  ${this.#names.get(live.call) ?? live.call}: ${visible(oneLine(live.text))}`)
      case 'call':
      case 'stopped':
        return
    }
  }

  #delta(key: string, text: string): void {
    if (this.#shown.key !== key) this.#shown = { key, text: '' }
    this.#shown.text += text
    if (this.#cli.out.isStreaming) this.#cli.out.stream(text)
  }

  #event(event: Event): void {
    const { out, texts } = this.#cli
    this.#track(event)
    switch (event.type) {
      case 'input.entered':
        if (!this.#own.has(event.input) && event.origin.kind !== 'system')
          out.progress(
            texts.entered(texts.lanes[event.lane], this.#isInStep ? event.step : event.step + 1, shownInput(event)),
            'plain',
          )
        return
      case 'input.rejected':
        if (event.lane !== 'control') out.notice('rejected', texts.rejected(texts.lanes[event.lane], event.reason))
        return
      case 'model.failed':
        return this.#modelFailed(event)
      case 'reply.completed':
        return this.#reply(event)
      case 'reply.interrupted':
        if (event.reason === 'crashed') out.progress(texts.brokeOff)
        return
      case 'call.started':
        return out.progress(
          `→ ${this.#names.get(event.call) ?? event.call}${event.attempt > 1 ? ` (${event.attempt})` : ''}`,
        )
      case 'call.ended': {
        const line = callLine(event.outcome, event.content)
        return line === null
          ? undefined
          : out.progress(`  ${this.#names.get(event.call) ?? event.call}: ${line}`, 'warn')
      }
      case 'call.ended-late':
        return out.progress(`  ${contentLine(event.content, 160)}`)
      case 'stop.vetoed':
        return out.progress(texts.vetoed(event.by))
      case 'context.compacted':
        return out.progress(texts.compacted)
      case 'log.damaged':
        return out.notice('log-damaged', texts.damaged(event.from, event.reason), 'bad')
      case 'turn.ended':
        return this.#turnEnded(event)
      default:
        return
    }
  }

  /** What later events are read by. */
  #track(event: Event): void {
    if ('usage' in event) this.usage = addUsage(this.usage, event.usage)
    if (event.type === 'step.started') this.#isInStep = true
    if (event.type === 'step.ended') this.#isInStep = false
    if (event.type !== 'turn.started') return
    this.isWorking = true
    this.text = ''
    this.#names.clear()
  }

  #modelFailed({ failure, retryAt, at, attempt }: EventOf<'model.failed'>): void {
    if (retryAt === null || failure.kind === 'superseded') return
    const { out, texts } = this.#cli
    out.notice('retry', texts.retry(failure.kind, failure.message, attempt + 1, Math.max(0, retryAt - at)))
  }

  #reply(reply: EventOf<'reply.completed'>): void {
    const { out } = this.#cli
    const text = textOf(reply.parts)
    for (const call of reply.calls) this.#names.set(call.id, nameOf(call))
    if (out.isStreaming) this.#finishStream(keyOf(reply), text)
    // A reply that is followed by another was not the answer: people see it in passing.
    else if (this.text !== '' && !this.#isTextShown) out.progress(this.text)
    this.#isTextShown = out.isStreaming
    if (reply.calls.length === 0) this.text = text
    else if (text.trim() !== '' && !out.isStreaming) out.progress(text)
  }

  /** Deltas are lossy, the log is not: whatever of the reply was not shown yet is shown now. */
  #finishStream(key: string, text: string): void {
    const { out } = this.#cli
    const shown = this.#shown.key === key ? this.#shown.text : ''
    if (text.startsWith(shown)) out.stream(text.slice(shown.length))
    else out.result(text)
    out.endLine()
  }

  #turnEnded({ outcome, goal }: EventOf<'turn.ended'>): void {
    const { out, texts } = this.#cli
    this.isWorking = false
    this.outcome = { ...outcome, goal }
    if (this.text !== '' && !this.#isTextShown) out.result(this.text)
    const line = outcomeLine(texts, outcome)
    if (line !== null) out.notice(outcome.kind, line, outcome.kind === 'error' ? 'bad' : 'warn')
  }
}

function shownInput({ content }: EventOf<'input.entered'>): string {
  return oneLine(unmarked(textOf(content)) ?? contentLine(content))
}

function nameOf({ name, args }: Pick<CallRecord, 'name' | 'args'>): string {
  return `${visible(name)} ${argsLine(args)}`.trim()
}

function keyOf(at: { readonly turn: number; readonly step: number; readonly attempt: number }): string {
  return `${at.turn}/${at.step}/${at.attempt}`
}
