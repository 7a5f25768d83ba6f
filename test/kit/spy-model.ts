/** A model behind the strictest endpoint there is: it takes down every request, and says what no wire would have taken. */
import type { Message } from '../../src/kernel/message.ts'
import { TranscriptCheck } from '../../src/kernel/transcript.ts'
import type { Model, ModelChunk, ModelRequest } from '../../src/runtime/ports.ts'

export interface Seen {
  readonly session: string
  readonly epoch: number
  readonly system: string
  readonly toolNames: readonly string[]
  readonly messages: readonly Message[]
}

export class SpyModel implements Model {
  readonly requests: Seen[] = []
  /** What was wrong with requests, oldest first. */
  readonly complaints: string[] = []
  readonly #inner: Model

  constructor(inner: Model) {
    this.#inner = inner
  }

  get route(): Model['route'] {
    return this.#inner.route
  }

  get binding(): Model['binding'] {
    return this.#inner.binding
  }

  get contextTokens(): number | null {
    return this.#inner.contextTokens
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelChunk> {
    const { session, epoch, system, tools } = request
    const seen: Seen = {
      session,
      epoch,
      system,
      toolNames: tools.map((tool) => tool.name),
      messages: request.messages.toArray(),
    }
    this.#judge(request, seen)
    this.requests.push(seen)
    return this.#inner.stream(request, signal)
  }

  #judge(request: ModelRequest, seen: Seen): void {
    const at = `request ${this.requests.length + 1}`
    const fault = new TranscriptCheck().check(request.messages, [])
    if (fault !== null) this.complaints.push(`${at}: message ${fault.at}: ${fault.problem}`)
    const previous = this.requests.findLast((one) => one.session === seen.session)
    if (previous?.epoch !== seen.epoch) return
    const broken = prefixBreak(previous, seen)
    if (broken !== null) this.complaints.push(`X1: ${at} does not start with the one before it: ${broken}`)
  }
}

/** Null: `next` starts with `previous`, byte for byte. */
function prefixBreak(previous: Seen, next: Seen): string | null {
  if (previous.system !== next.system) return 'the system text differs'
  if (previous.toolNames.join() !== next.toolNames.join()) return 'the tools differ'
  const differs = previous.messages.findIndex(
    (message, index) => JSON.stringify(message) !== JSON.stringify(next.messages[index]),
  )
  return differs < 0 ? null : `message ${differs} differs`
}
