/** What the endpoints that speak chat completions do differently. A dialect is data; the codec has no other branches on providers. */
import type { Json } from '../../util/json.ts'

/** The dialects that are known; `generic` assumes as little as possible. */
export type DialectName =
  | 'openai'
  | 'deepseek'
  | 'deepseek-r1'
  | 'kimi'
  | 'qwen'
  | 'minimax'
  | 'glm'
  | 'vllm'
  | 'openrouter'
  | 'ollama'
  | 'generic'

/** How one endpoint speaks chat completions. */
export interface Dialect {
  readonly name: DialectName
  /** Whether reasoning goes back with later requests, under the key under which it came. */
  readonly sendsReasoning: boolean
  /** Where the key `reasoning_content` must stand even if there was no reasoning: nowhere, on replies with calls, on every reply. */
  readonly emptyReasoning: 'never' | 'calls' | 'always'
  /** Whether thinking may come inside the content, as `<think>…</think>` at its start. */
  readonly inlineThinking: boolean
  readonly maxTokensKey: 'max_tokens' | 'max_completion_tokens'
  /** Ids of calls that it takes. */
  readonly legalId: RegExp
  /** Whether it takes image parts. */
  readonly images: boolean
  /** Sent with every request, unless the options say otherwise. */
  readonly extra: Readonly<Record<string, Json>>
}

const STRICT_ID = /^[a-zA-Z0-9_-]{1,40}$/
/** Some servers make ids such as `functions.read:0` or `chatcmpl-tool-…` and want them back. */
const LOOSE_ID = /^[a-zA-Z0-9_.:-]{1,64}$/

const generic: Dialect = {
  name: 'generic',
  sendsReasoning: true,
  emptyReasoning: 'never',
  inlineThinking: true,
  maxTokensKey: 'max_tokens',
  legalId: STRICT_ID,
  images: true,
  extra: { stream_options: { include_usage: true } },
}

export const DIALECTS: { readonly [Name in DialectName]: Dialect } = {
  generic,
  // Refuses keys that it does not know, reasoning among them.
  openai: {
    ...generic,
    name: 'openai',
    sendsReasoning: false,
    inlineThinking: false,
    maxTokensKey: 'max_completion_tokens',
  },
  // V3.2 wants reasoning back within the turn, V4 in all later requests, and both take an empty one: so it always stands there.
  deepseek: { ...generic, name: 'deepseek', emptyReasoning: 'always', inlineThinking: false, images: false },
  // The first generation refuses reasoning in its input.
  'deepseek-r1': { ...generic, name: 'deepseek-r1', sendsReasoning: false, images: false },
  kimi: { ...generic, name: 'kimi', emptyReasoning: 'calls', legalId: LOOSE_ID },
  qwen: { ...generic, name: 'qwen' },
  minimax: { ...generic, name: 'minimax' },
  glm: { ...generic, name: 'glm' },
  vllm: { ...generic, name: 'vllm', legalId: LOOSE_ID },
  openrouter: { ...generic, name: 'openrouter', legalId: LOOSE_ID },
  ollama: { ...generic, name: 'ollama', legalId: LOOSE_ID },
}

/** Keys under which reasoning text comes, the one to show first. */
export const REASONING_KEYS = ['reasoning_content', 'reasoning'] as const
