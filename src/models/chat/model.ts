/** Any endpoint that speaks chat completions, as a model. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { Model } from '../../runtime/ports.ts'
import { checkSendable, plainUrl } from '../sendable.ts'
import { DIALECTS, type Dialect } from './dialects.ts'
import type { ChatLine } from './line.ts'
import type { ChatOptions, LineOptions } from './options.ts'

/** Makes a model. Nothing is loaded or connected before its first call. */
export function chatModel(options: ChatOptions): Model {
  const { provider, model, scope = 'default' } = options
  const dialect = dialectOf(options.dialect)
  const route = { adapter: 'chat', wire: dialect.name, provider, model, scope }
  checkSendable(options)
  const line = lineOf({ ...options, dialect, route, url: endpoint(options.baseUrl) })
  return {
    route,
    binding: 'none',
    contextTokens: options.contextTokens ?? null,
    async *stream(request, signal) {
      yield* (await line()).stream(request, signal)
    },
  }
}

/** The line, made for the first call: the codec is a good part of what a program loads. */
function lineOf(options: LineOptions): () => Promise<ChatLine> {
  let made: Promise<ChatLine> | null = null
  const make = async (): Promise<ChatLine> => new (await import('./line.ts')).ChatLine(options)
  return () => (made ??= make())
}

function dialectOf(dialect: ChatOptions['dialect'] = 'generic'): Dialect {
  return typeof dialect === 'string' ? DIALECTS[dialect] : dialect
}

function endpoint(baseUrl: string): string {
  // Without the error of `new URL` as the cause: it has the whole text in it, credentials too.
  if (!URL.canParse(baseUrl)) {
    throw new TurnstepError(
      'config-invalid',
      `the base URL "${plainUrl(baseUrl)}" is no URL: give one such as https://api.example.com/v1`,
    )
  }
  const url = new URL(baseUrl)
  if (!url.pathname.endsWith('/chat/completions')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`
  return url.href
}
