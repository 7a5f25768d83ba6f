/** What is checked of how an endpoint is reached before there is a model: that it can be sent, and how it may be quoted. */
import { TurnstepError } from '../kernel/errors.ts'
import type { ProxySettings } from './proxy.ts'

/** How an endpoint is reached. */
export interface Access {
  readonly provider: string
  readonly baseUrl: string
  readonly apiKey: string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly proxy?: ProxySettings
}

/**
 * Refuses a key or a header that cannot be sent: the transport would quote it when it refuses. Throws `config-invalid` that names
 * the character and where it stands, not the value.
 */
export function checkSendable({ provider, apiKey, headers = {} }: Omit<Access, 'baseUrl' | 'proxy'>): void {
  const advice = 'check the variable or the file it is read from for line breaks, spaces and quotes'
  const check = (what: string, value: string, illegal: RegExp): void => {
    const at = value.search(illegal)
    if (at === -1) return
    throw new TurnstepError(
      'config-invalid',
      `the ${what} has ${kindOf(value.charAt(at))} at position ${at + 1} and cannot be sent: ${advice}`,
      { data: { provider, position: at + 1 } },
    )
  }
  if (apiKey !== null) check(`API key of "${provider}"`, apiKey, /[^\x21-\x7e]/)
  for (const [name, value] of Object.entries(headers))
    check(`header "${name}" of "${provider}"`, value.trim(), /[^\t\x20-\x7e\x80-\xff]/)
}

function kindOf(character: string): string {
  if (/[\n\r\u2028\u2029]/.test(character)) return 'a line break'
  if (/\s/.test(character)) return 'a space'
  return character < ' ' || character === '\x7f' ? 'a control character' : 'a character that is not ASCII'
}

/** A base URL that may be quoted: without what stands before its host, or behind its path. */
export function plainUrl(url: string): string {
  return url.replace(/^([^/?#]*\/\/)?[^/?#]*@/, '$1***@').replace(/[?#].*$/s, '?***')
}
