/**
 * Call ids as a wire sees them (C1, cases 101 and 102). The provider's own id goes back where it is legal and was not used earlier
 * in the request; any other call gets an id made from ours, the same in every request with the same prefix.
 */
import type { CallId } from '../kernel/ids.ts'
import type { TranscriptCall } from '../kernel/message.ts'
import { quickHash } from '../util/hash.ts'

export class WireIds {
  readonly #legal: RegExp
  readonly #used = new Set<string>()
  readonly #byCall = new Map<CallId, string>()

  constructor(legal: RegExp) {
    this.#legal = legal
  }

  /** Gives the call its id. Calls come in the order of the request, each once. */
  assign(call: TranscriptCall): string {
    const own = call.providerId
    let id = this.#legal.test(own) && !this.#used.has(own) ? own : mappedId(call.id)
    // Only a provider that imitates our ids gets here; the count is bounded by the calls of the request.
    for (let again = 2; this.#used.has(id); again++) id = `${mappedId(call.id).slice(0, MAPPED_MAX - 5)}_${again}`
    this.#used.add(id)
    this.#byCall.set(call.id, id)
    return id
  }

  /** The id of a call that was assigned before. */
  of(call: CallId): string {
    return this.#byCall.get(call) ?? mappedId(call)
  }
}

/** What every wire takes: at most 40 of `[a-zA-Z0-9_-]`. */
const MAPPED_MAX = 40

function mappedId(call: CallId): string {
  const plain = `call_${call.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`
  // The hash keeps apart what the replacement or the cut makes equal.
  return plain.length <= MAPPED_MAX && !/[^a-zA-Z0-9]/.test(call)
    ? plain
    : `${plain.slice(0, MAPPED_MAX - 15)}_${quickHash(call)}`
}
