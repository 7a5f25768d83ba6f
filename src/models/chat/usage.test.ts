import { describe, expect, it } from 'vitest'
import { UsageReader } from './usage.ts'

function read(...raw: readonly unknown[]) {
  const reader = new UsageReader()
  for (const one of raw) reader.take(one)
  return reader.usage
}

describe('B1: usage of one response', () => {
  it('case 068: the last value of each field wins', () => {
    const start = { prompt_tokens: 100, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 80 } }
    expect(read(start, { prompt_tokens: 100, completion_tokens: 50 })).toMatchObject({
      input: 100,
      cacheRead: 80,
      output: 50,
    })
  })

  it.each([
    ['OpenAI', { prompt_tokens: 1000, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 800 } }],
    [
      'DeepSeek',
      { prompt_tokens: 1000, completion_tokens: 9, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200 },
    ],
    [
      'DeepSeek with an empty OpenAI field',
      {
        prompt_tokens: 1000,
        completion_tokens: 9,
        prompt_cache_hit_tokens: 800,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    ],
    ['hit and miss alone', { completion_tokens: 9, prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200 }],
    ['Kimi', { prompt_tokens: 1000, completion_tokens: 9, cached_tokens: 800 }],
    ['cached tokens beside the input', { prompt_tokens: 200, completion_tokens: 9, cached_tokens: 800 }],
  ])('case 069: cached tokens are part of the input once: %s', (_who, raw) => {
    expect(read(raw)).toEqual({ known: true, input: 1000, cacheRead: 800, cacheWrite: 0, output: 9, reasoning: 0 })
  })

  it('reasoning is part of the output', () => {
    expect(
      read({ prompt_tokens: 1, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 20 } })?.reasoning,
    ).toBe(9)
  })

  it('is unknown where nothing was said', () => {
    expect(read(null, {}, 'x', { prompt_tokens: -1 })).toBeNull()
  })
})
