/** Models by name, such as `deepseek/deepseek-chat`: what a provider needs is read from the environment that is passed in. */
import { TurnstepError } from '../kernel/errors.ts'
import type { Clock, Model } from '../runtime/ports.ts'
import { chatModel } from '../models/chat/index.ts'
import type { DialectName } from '../models/chat/index.ts'
import type { ProxySettings } from '../models/proxy.ts'
import { quoted } from '../util/text.ts'

export interface ResolveOptions {
  /** Reads an environment variable. */
  env(name: string): string | undefined
  readonly clock: Clock
  readonly fetch?: typeof fetch
  /** The account, by its configured name. Default `default`. */
  readonly scope?: string
}

interface Provider {
  /** The first is the one in routes. */
  readonly names: readonly string[]
  readonly baseUrl: string
  /** Variables that may hold the key. */
  readonly keys: readonly string[]
  /** Variables that may hold another base URL. */
  readonly urls: readonly string[]
  readonly dialect: DialectName
  /** Runs on the user's own machine, mostly without a key. */
  readonly local?: boolean
}

const PROVIDERS: readonly Provider[] = [
  {
    names: ['deepseek'],
    baseUrl: 'https://api.deepseek.com',
    keys: ['DEEPSEEK_API_KEY'],
    urls: ['DEEPSEEK_BASE_URL'],
    dialect: 'deepseek',
  },
  {
    names: ['openai'],
    baseUrl: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    urls: ['OPENAI_BASE_URL'],
    dialect: 'openai',
  },
  {
    names: ['moonshot', 'kimi'],
    baseUrl: 'https://api.moonshot.cn/v1',
    keys: ['MOONSHOT_API_KEY', 'KIMI_API_KEY'],
    urls: ['MOONSHOT_BASE_URL', 'KIMI_BASE_URL'],
    dialect: 'kimi',
  },
  {
    names: ['dashscope', 'qwen'],
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    keys: ['DASHSCOPE_API_KEY', 'QWEN_API_KEY'],
    urls: ['DASHSCOPE_BASE_URL', 'QWEN_BASE_URL'],
    dialect: 'qwen',
  },
  {
    names: ['minimax'],
    baseUrl: 'https://api.minimaxi.com/v1',
    keys: ['MINIMAX_API_KEY'],
    urls: ['MINIMAX_BASE_URL'],
    dialect: 'minimax',
  },
  {
    names: ['zai', 'glm'],
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    keys: ['ZAI_API_KEY', 'GLM_API_KEY'],
    urls: ['ZAI_BASE_URL', 'GLM_BASE_URL'],
    dialect: 'glm',
  },
  {
    names: ['openrouter'],
    baseUrl: 'https://openrouter.ai/api/v1',
    keys: ['OPENROUTER_API_KEY'],
    urls: ['OPENROUTER_BASE_URL'],
    dialect: 'openrouter',
  },
  {
    names: ['ollama'],
    baseUrl: 'http://127.0.0.1:11434/v1',
    keys: ['OLLAMA_API_KEY'],
    urls: ['OLLAMA_BASE_URL'],
    dialect: 'ollama',
    local: true,
  },
  {
    names: ['vllm'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    keys: ['VLLM_API_KEY'],
    urls: ['VLLM_BASE_URL'],
    dialect: 'vllm',
    local: true,
  },
]

/**
 * Makes the model of that name. Nothing is loaded or connected before its first call. Throws `model-unknown`,
 * `model-key-missing`, or `config-invalid` for a variable that should hold a URL and holds none. A provider that is not known works with the generic dialect
 * if `<NAME>_BASE_URL` is set.
 */
export function resolveModel(name: string, options: ResolveOptions): Model {
  const slash = name.indexOf('/')
  const [providerName, model] = [name.slice(0, slash), name.slice(slash + 1)]
  if (slash < 1 || model === '') {
    throw new TurnstepError(
      'model-unknown',
      `"${name}" names no model: write provider/model, such as deepseek/deepseek-chat`,
    )
  }
  const provider = PROVIDERS.find(({ names }) => names.includes(providerName)) ?? customProvider(providerName, options)
  const apiKey = firstSet(provider.keys, options)
  if (apiKey === undefined && provider.local !== true) {
    const [key = ''] = provider.keys
    throw new TurnstepError('model-key-missing', `"${name}" needs a key: set ${key}`, { data: { variable: key } })
  }
  return chatModel({
    provider: provider.names[0]!,
    model,
    baseUrl: firstUrl(provider.urls, options) ?? provider.baseUrl,
    apiKey: apiKey ?? null,
    dialect: provider.dialect,
    scope: options.scope ?? 'default',
    clock: options.clock,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...proxyOf(options),
  })
}

/** The providers that are known by name. */
export function knownProviders(): readonly string[] {
  return PROVIDERS.flatMap(({ names }) => names)
}

/** What is known of each provider: where its key and its base URL are read from, and the URL without one. */
export function providerSettings(): readonly {
  readonly name: string
  readonly keys: readonly string[]
  readonly urls: readonly string[]
  readonly baseUrl: string
  readonly needsKey: boolean
}[] {
  return PROVIDERS.map(({ names, keys, urls, baseUrl, local = false }) => ({
    name: names[0]!,
    keys,
    urls,
    baseUrl,
    needsKey: !local,
  }))
}

function customProvider(name: string, options: ResolveOptions): Provider {
  const prefix = name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')
  const variable = `${prefix}_BASE_URL`
  const baseUrl = firstSet([variable], options)
  if (baseUrl === undefined) {
    const known = knownProviders().join(', ')
    throw new TurnstepError(
      'model-unknown',
      `no provider "${name}": use one of ${known}; or set ${variable} to an OpenAI-compatible endpoint`,
      {
        data: { known: [...knownProviders()] },
      },
    )
  }
  return { names: [name], baseUrl, keys: [`${prefix}_API_KEY`], urls: [variable], dialect: 'generic', local: true }
}

function firstSet(names: readonly string[], { env }: Pick<ResolveOptions, 'env'>): string | undefined {
  for (const name of names) {
    // A key that was read from a file mostly has its line break with it.
    const value = env(name)?.trim()
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

/** The same for variables that hold a URL. Throws `config-invalid` naming the variable: what it holds would fail later, in other words. */
function firstUrl(names: readonly string[], options: Pick<ResolveOptions, 'env'>): string | undefined {
  const variable = names.find((name) => firstSet([name], options) !== undefined)
  if (variable === undefined) return undefined
  const value = firstSet([variable], options)!
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value
  throw new TurnstepError(
    'config-invalid',
    `${variable} is ${quoted(withoutSecret(value))}, which is no URL: write one such as https://example.com:8080, or unset it`,
    { data: { variable } },
  )
}

/** A URL, or what was meant to be one, without the name and password in it. */
function withoutSecret(url: string): string {
  return url.replace(/^((?:[a-z][a-z0-9+.-]*:)?\/\/)?.*@/is, '$1…@')
}

/** This machine is never reached through a proxy. */
const DIRECT = ['localhost', '127.0.0.1', '::1']

function proxyOf(options: ResolveOptions): { readonly proxy?: ProxySettings } {
  const httpsProxy = firstUrl(['HTTPS_PROXY', 'https_proxy'], options)
  const httpProxy = firstUrl(['HTTP_PROXY', 'http_proxy'], options)
  if (httpsProxy === undefined && httpProxy === undefined) return {}
  const noProxy = [firstSet(['NO_PROXY', 'no_proxy'], options), ...DIRECT]
    .filter((part) => part !== undefined)
    .join(',')
  return {
    proxy: {
      noProxy,
      ...(httpProxy === undefined ? {} : { httpProxy }),
      ...(httpsProxy === undefined ? {} : { httpsProxy }),
    },
  }
}
