/** The way out of this host: through a proxy, or past the transport's own timers. */

/** The proxies that calls go through. Nothing is read from the environment here. */
export interface ProxySettings {
  readonly httpProxy?: string
  readonly httpsProxy?: string
  /** Hosts that are reached directly, in the form of `NO_PROXY`. */
  readonly noProxy?: string
}

/**
 * What the `fetch` of Node takes beside its own options. Its real type is not named: this one stands in our declarations, and who
 * compiles them may know the `RequestInit` of a browser only.
 */
export interface Dispatcher {
  dispatch(...args: never): unknown
}

/** Built-in fetch gives up after 300 s of silence, whatever we were told. */
const BUILT_IN_LIMIT_MS = 290_000

/**
 * A dispatcher for `fetch`, or undefined where the built-in one does. undici is loaded only here: it takes a tenth of a second.
 */
export async function dispatcherFor(
  proxy: ProxySettings | null,
  longestWaitMs: number,
): Promise<Dispatcher | undefined> {
  const proxied = proxy?.httpProxy !== undefined || proxy?.httpsProxy !== undefined
  if (!proxied && longestWaitMs <= BUILT_IN_LIMIT_MS) return undefined
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const timers = { bodyTimeout: 0, headersTimeout: 0 }
  if (!proxied) return new Agent(timers)
  // Each setting is given, so that undici does not read the environment itself.
  const { httpProxy = '', httpsProxy = httpProxy, noProxy = '' } = proxy
  return new EnvHttpProxyAgent({ ...timers, httpProxy, httpsProxy, noProxy })
}
