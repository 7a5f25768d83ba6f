/** The least of a client: what a request needs to be taken, and the reply as blocks to send back. */
import { modelServer, type ModelServer, type ModelServerOptions } from '../../server.ts'
import type { JsonObject } from '../../json-body.ts'

export const CLASSIC = 'claude-sonnet-4-5'
export const ADAPTIVE = 'claude-opus-4-6'
export const BOUND = 'claude-opus-5-5'

export interface Asked {
  readonly status: number
  readonly body: JsonObject
  readonly headers: Headers
  /** The rule for which it was refused. */
  readonly rule: string | null
  readonly content: readonly JsonObject[]
}

export interface Client {
  readonly server: ModelServer
  ask(body: JsonObject, headers?: { readonly [name: string]: string }): Promise<Asked>
}

export async function clientOf(script: ModelServerOptions['script'], options: object = {}): Promise<Client> {
  const server = await modelServer({ script, ...options })
  const ask: Client['ask'] = async (body, headers = {}) => {
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', ...headers },
      body: JSON.stringify({ model: CLASSIC, max_tokens: 1_000, ...body }),
    })
    const answer = (await response.json()) as JsonObject
    const rule = server.requests.at(-1)!.refused
    return {
      status: response.status,
      body: answer,
      headers: response.headers,
      rule,
      content: (answer['content'] ?? []) as readonly JsonObject[],
    }
  }
  return { server, ask }
}

export const user = (...content: readonly (string | JsonObject)[]): JsonObject => ({
  role: 'user',
  content: content.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
})

export const assistant = (...content: readonly (string | JsonObject)[]): JsonObject => ({
  ...user(...content),
  role: 'assistant',
})

export const use = (id: string, input: unknown = {}): JsonObject => ({ type: 'tool_use', id, name: 'look', input })

export const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'seen',
  ...more,
})

export const LOOK = { name: 'look', description: 'looks', input_schema: { type: 'object' } }
export const THINKING = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 4_000 }
