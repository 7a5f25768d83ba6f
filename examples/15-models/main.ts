/** Ways to name a model. Nothing is connected, and no codec is loaded, before the first call. */
import { agent, chatModel } from 'turnstep'

/** By name: the provider's address, dialect and key's variable are known. */
export const byName = agent({ model: 'deepseek/deepseek-chat', instructions: 'Be brief.' })

/** Another OpenAI-compatible endpoint by name: `ACME_BASE_URL` and, if it wants one, `ACME_API_KEY` are set. */
export const byVariable = agent({ model: 'acme/our-model' })

/** In full: for headers, limits, or a dialect of your choice. */
export function inFull(baseUrl: string, apiKey: string) {
  return chatModel({
    provider: 'acme',
    model: 'our-model',
    baseUrl,
    apiKey,
    dialect: 'vllm',
    headers: { 'x-team': 'books' },
    maxOutputTokens: 2_000,
    idleTimeoutMs: 30_000,
  })
}
