/** What tells one chat endpoint from another: data, and nothing else. The path names the endpoint, the model its generation. */

/** Where a reply's thinking stands. `details` carry sealed state. */
export type ReasoningForm = 'none' | 'reasoning_content' | 'reasoning' | 'inline' | 'details'

/** How one endpoint speaks, and what it refuses. */
export interface Endpoint {
  readonly name: string
  readonly reasoning: ReasoningForm
  /**
   * What it demands of thinking in its input. `never`: must not be there (D01) · `turn`: on calls of the running turn (D02) ·
   * `spans`: on every reply between two user messages of which one has calls (D03) · `calls`: on every reply with calls (K01).
   */
  readonly demands: 'nothing' | 'never' | 'turn' | 'spans' | 'calls'
  /** Refuses keys that it does not know (C16), and ids over 40 characters (C10). */
  readonly isExact: boolean
  /** Takes images in user messages. */
  readonly images: boolean
  /** What the ids of its calls look like. */
  readonly ids: 'call' | 'functions' | 'long'
  readonly usage: 'openai' | 'deepseek' | 'kimi'
  readonly overflow: (tokens: number, max: number) => string
  /** What it says of a result without a call, where that is another text. */
  readonly orphan?: (id: string) => string
  readonly window: number
}

const plain: Endpoint = {
  name: 'generic',
  reasoning: 'reasoning_content',
  demands: 'nothing',
  isExact: false,
  images: true,
  ids: 'call',
  usage: 'openai',
  overflow: (tokens, max) =>
    `This model's maximum context length is ${max} tokens. However, your messages resulted in ${tokens} tokens.`,
  window: 128_000,
}

const deepseek: Endpoint = { ...plain, name: 'deepseek', images: false, usage: 'deepseek' }

const ENDPOINTS: { readonly [name: string]: (model: string) => Endpoint } = {
  openai: () => ({ ...plain, name: 'openai', reasoning: 'none', isExact: true }),
  deepseek: (model) => ({ ...deepseek, demands: deepseekDemands(model) }),
  kimi: () => ({ ...plain, name: 'kimi', demands: 'calls', ids: 'functions', usage: 'kimi' }),
  qwen: () => ({ ...plain, name: 'qwen', overflow: (_, max) => `Range of input length should be [1, ${max}]` }),
  minimax: () => ({
    ...plain,
    name: 'minimax',
    reasoning: 'inline',
    overflow: () => 'invalid params, context window exceeds limit (2013)',
    orphan: (id) => `invalid params, tool result's tool id(${id}) not found (2013)`,
  }),
  vllm: () => ({ ...plain, name: 'vllm', reasoning: 'reasoning', ids: 'long' }),
  openrouter: () => ({ ...plain, name: 'openrouter', reasoning: 'details' }),
}

/** The names that stand in a path: `/deepseek/v1/chat/completions`. */
export const ENDPOINT_NAMES: readonly string[] = Object.keys(ENDPOINTS)

/** The endpoint of a path segment; OpenAI's own where it names none. */
export function endpointOf(name: string | undefined, model: string): Endpoint {
  return (ENDPOINTS[name ?? 'openai'] ?? ENDPOINTS['openai']!)(model)
}

/** Three generations: the first refuses thinking, the second wants it back in its turn, the third for ever. */
function deepseekDemands(model: string): Endpoint['demands'] {
  if (/v3\.2/.test(model)) return 'turn'
  return /v4|flash|pro/.test(model) ? 'spans' : /reasoner|r1/.test(model) ? 'never' : 'spans'
}
