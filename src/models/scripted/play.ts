/**
 * Plays a step. Written by hand instead of as a generator: a model that costs nothing itself is what loops are measured with.
 * 1. Chunks, then exactly one terminal, then nothing; nothing is thrown.
 * 2. The signal is looked at before every chunk and heard in every wait; an aborted step is not consumed.
 * 3. When it is over, no timer and no listener is left.
 */
import type { Clock, ModelChunk, ModelEnd, ModelRequest } from '../../runtime/ports.ts'
import type { PickedStep } from './cursor.ts'
import { aborted, failureOf } from './fault.ts'
import { delivered, speechOf, usageOf, type Speech } from './reply.ts'

interface PlaySettings {
  readonly clock: Clock | null
  readonly idleTimeoutMs: number | null
}

type Result = IteratorResult<ModelChunk, undefined>

const OVER: Result = { done: true, value: undefined }

interface Scene {
  readonly pick: PickedStep
  readonly speech: Speech
  /** How many chunks come before the fault, or before the end. */
  readonly length: number
}

export class Playback implements AsyncIterableIterator<ModelChunk, undefined> {
  readonly #judge: (request: ModelRequest) => PickedStep | ModelEnd
  readonly #request: ModelRequest
  readonly #signal: AbortSignal
  readonly #settings: PlaySettings
  #scene: Scene | ModelEnd | null = null
  #shown = 0
  #over = false
  #wake: (() => void) | null = null

  /** `judge` says which step answers, or that none does; it is asked when the stream starts. */
  constructor(
    judge: (request: ModelRequest) => PickedStep | ModelEnd,
    request: ModelRequest,
    signal: AbortSignal,
    settings: PlaySettings,
  ) {
    this.#judge = judge
    this.#request = request
    this.#signal = signal
    this.#settings = settings
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#over) return Promise.resolve(OVER)
    if (this.#signal.aborted) return Promise.resolve(this.#last(aborted(this.#shown > 0)))
    this.#scene ??= this.#begin()
    if ('type' in this.#scene) return Promise.resolve(this.#last(this.#scene))
    const scene = this.#scene
    return this.#mustWait(scene)
      ? this.#wait(scene).then(() => this.#advance(scene))
      : Promise.resolve(this.#advance(scene))
  }

  return(): Promise<Result> {
    this.#over = true
    this.#wake?.()
    return Promise.resolve(OVER)
  }

  #begin(): Scene | ModelEnd {
    const pick = this.#judge(this.#request)
    if ('type' in pick) return pick
    const { fault } = pick.step
    const speech = speechOf(pick.step, this.#request.messages.length)
    const before = fault?.kind === 'http' || fault?.kind === 'reset' ? 0 : (fault?.after ?? Infinity)
    return { pick, speech, length: Math.min(before, speech.chunks.length) }
  }

  #mustWait({ pick: { step }, length }: Scene): boolean {
    return (step.stream?.delayMs ?? 0) > 0 || (step.fault?.kind === 'stall' && this.#shown === length)
  }

  async #wait({ pick: { step }, length }: Scene): Promise<void> {
    const { clock, idleTimeoutMs } = this.#settings
    const delayMs = step.stream?.delayMs ?? 0
    if (delayMs > 0) await this.#sleep(clock, delayMs)
    if (step.fault?.kind !== 'stall' || this.#shown < length || this.#over || this.#signal.aborted) return
    await this.#sleep(idleTimeoutMs === null ? null : clock, idleTimeoutMs ?? 0)
  }

  #advance({ pick, speech, length }: Scene): Result {
    if (this.#over) return OVER
    if (this.#signal.aborted) return this.#last(aborted(this.#shown > 0))
    if (this.#shown < length) return { done: false, value: speech.chunks[this.#shown++]! }
    const { step, label } = pick
    pick.consume()
    if (step.fault === undefined) return this.#last(delivered(step, speech, label))
    return this.#last({
      type: 'end',
      kind: 'error',
      failure: failureOf(step.fault, this.#shown > 0),
      usage: usageOf(step),
    })
  }

  #last(end: ModelEnd): Result {
    this.#over = true
    return { done: false, value: end }
  }

  /** Until the time comes, the signal aborts, or the reader leaves; without a clock there is no time. */
  #sleep(clock: Clock | null, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        disarm?.()
        this.#signal.removeEventListener('abort', wake)
        this.#wake = null
        resolve()
      }
      const disarm = clock?.after(ms, wake)
      this.#signal.addEventListener('abort', wake, { once: true })
      this.#wake = wake
    })
  }
}
