/**
 * Which code of the user's agent is at work: bodies of tools, hooks, a model that is waited for. Owns who runs, and where; what it means
 * that one still does is said where a life ends (`life.ts`).
 */
import type { Model, ModelChunk } from '../../runtime/ports.ts'
import { isLater, type Maybe } from '../../util/maybe.ts'

/** A call of the user's code. */
export interface Work {
  /** Name of the process that made it. */
  readonly process: string
  /** For people: `tool pay t1s1c1`. */
  readonly what: string
}

export class Running {
  readonly #all = new Set<Work>()

  /** Those that have not come back yet, the oldest first. */
  get all(): readonly Work[] {
    return [...this.#all]
  }

  /** Makes the call, and counts it until it came back or threw. Its answer is passed on as soon as it is there. */
  during<T>(work: Work, call: () => Maybe<T>): Maybe<T> {
    const answer = call()
    if (!isLater(answer)) return answer
    this.#all.add(work)
    const end = (): void => void this.#all.delete(work)
    const coming = Promise.resolve(answer)
    coming.then(end, end)
    return coming
  }

  /** The model, counted while a chunk is waited for: between chunks it is whoever asks for them that takes the time. */
  over(model: Model, process: string): Model {
    const { route, binding, contextTokens } = model
    const work = { process, what: `model ${route.model}` }
    return {
      route,
      binding,
      contextTokens,
      stream: (request, signal) => {
        const chunks = model.stream(request, signal)
        return { [Symbol.asyncIterator]: () => this.#counted(chunks[Symbol.asyncIterator](), work) }
      },
    }
  }

  #counted(chunks: AsyncIterator<ModelChunk>, work: Work): AsyncIterator<ModelChunk> {
    const ask = (call: () => Promise<IteratorResult<ModelChunk>>): Promise<IteratorResult<ModelChunk>> =>
      this.during({ ...work }, call) as Promise<IteratorResult<ModelChunk>>
    const giveUp = chunks.return?.bind(chunks)
    return {
      next: () => ask(() => chunks.next()),
      ...(giveUp === undefined ? {} : { return: (value: unknown) => ask(() => giveUp(value)) }),
    }
  }
}
