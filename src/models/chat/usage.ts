/** Token counts of one response: wherever a provider puts them, the last value of each field wins (B1). */
import type { Usage } from '../../kernel/failure.ts'
import { isPlainObject } from '../../util/json.ts'

export class UsageReader {
  readonly #seen = new Map<string, number>()

  /** Takes a usage object; anything else is passed over. */
  take(raw: unknown): void {
    if (!isPlainObject(raw)) return
    this.#walk(raw, '')
  }

  /** Null: the provider said nothing. Cached tokens are part of the input, once. */
  get usage(): Usage | null {
    const prompt = this.#first('prompt_tokens', 'input_tokens')
    const output = this.#first('completion_tokens', 'output_tokens')
    const hit = this.#first('prompt_tokens_details.cached_tokens', 'prompt_cache_hit_tokens', 'cached_tokens')
    const miss = this.#first('prompt_cache_miss_tokens')
    if (prompt === null && output === null && hit === null) return null
    const cacheRead = hit ?? 0
    const input = prompt ?? cacheRead + (miss ?? 0)
    // More cached than there was: this provider counts the cached tokens beside the input.
    const total = cacheRead > input ? input + cacheRead : input
    const written = this.#first(
      'prompt_tokens_details.cache_creation_input_tokens',
      'prompt_tokens_details.cache_write_tokens',
    )
    const reasoning = this.#first('completion_tokens_details.reasoning_tokens', 'reasoning_tokens')
    return {
      known: true,
      input: total,
      cacheRead,
      cacheWrite: Math.min(written ?? 0, total - cacheRead),
      output: output ?? 0,
      reasoning: Math.min(reasoning ?? 0, output ?? 0),
    }
  }

  #walk(raw: Record<string, unknown>, prefix: string): void {
    for (const [key, value] of Object.entries(raw)) {
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) this.#seen.set(prefix + key, value)
      else if (prefix === '' && isPlainObject(value)) this.#walk(value, `${key}.`)
    }
  }

  /** A zero gives way to a later name, since servers fill what they do not use with zeros. */
  #first(...names: readonly string[]): number | null {
    let zero: number | null = null
    for (const name of names) {
      const value = this.#seen.get(name)
      if (value !== undefined && value > 0) return value
      if (value !== undefined) zero = value
    }
    return zero
  }
}
