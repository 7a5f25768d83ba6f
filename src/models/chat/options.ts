/** What a model of chat completions is made of. */
import type { Route } from '../../kernel/message.ts'
import type { Clock } from '../../runtime/ports.ts'
import type { ProxySettings } from '../proxy.ts'
import type { Dialect, DialectName } from './dialects.ts'

/** How an endpoint is reached and watched. */
export interface ChatOptions {
  /** Names the provider in the route and in messages. */
  readonly provider: string
  readonly model: string
  /** Such as `https://api.example.com/v1`. */
  readonly baseUrl: string
  /** Null: the endpoint wants none. */
  readonly apiKey: string | null
  /** Default `generic`. */
  readonly dialect?: DialectName | Dialect
  /** The account, by its configured name. Default `default`. */
  readonly scope?: string
  readonly clock: Clock
  readonly headers?: Readonly<Record<string, string>>
  /** Between two chunks. Default two minutes. */
  readonly idleTimeoutMs?: number
  /** Until the first chunk. Default four minutes. */
  readonly firstChunkTimeoutMs?: number
  /** For the whole reply. Default one hour. */
  readonly totalTimeoutMs?: number
  readonly maxOutputTokens?: number
  readonly contextTokens?: number
  /** Whether the model takes images. Default: what its dialect says. */
  readonly images?: boolean
  readonly fetch?: typeof fetch
  readonly proxy?: ProxySettings
}

/** The options of the model, looked up and checked. */
export interface LineOptions extends Omit<ChatOptions, 'dialect'> {
  readonly dialect: Dialect
  readonly route: Route
  /** Where calls go. */
  readonly url: string
}
