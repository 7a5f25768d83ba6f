/**
 * What a failure must not show of how a model is reached: key, header values, credentials in URLs. Endpoints echo headers, and the
 * transport quotes what it refuses, so everything that leaves an adapter as a failure goes through here, once.
 *
 * Invariants:
 * 1. No eight characters in a row of a secret are shown, however the text around them was cut or escaped.
 * 2. What a model says is not touched: only failures and the provider's finish word are.
 */
import type { Failure } from '../kernel/failure.ts'
import type { ModelEnd } from '../runtime/ports.ts'
import { wellFormed } from '../util/wellformed.ts'
import type { Access } from './sendable.ts'

/** Pieces of a secret from this length on are hidden wherever they stand. */
const PIECE = 8
/** Shorter ones only right before a cut, or as a whole word. */
const HEAD_MIN = 4
const WHOLE_MIN = 3

const HIDDEN = '***'
/** Marks where a text was cut. */
const CUT = '…'

/** Headers that are no secret, and whose values stand in messages. */
const PUBLIC: ReadonlySet<string> = new Set(['accept', 'content-type'])
/** Headers that say who asks: hidden as a whole, though pieces of them are words and addresses that anybody may say. */
const NAMES: ReadonlySet<string> = new Set(['user-agent', 'referer', 'http-referer', 'x-title', 'origin'])

export class Secrets {
  readonly #pieces = new Set<string>()
  readonly #heads = new Set<string>()
  readonly #wholes = new Set<string>()

  constructor({ provider, baseUrl, apiKey, headers = {}, proxy = {} }: Access) {
    // A local server is given any key, mostly its own name.
    if (apiKey !== null && apiKey !== provider) this.#add(apiKey)
    for (const [name, value] of Object.entries(headers)) this.#addHeader(name.toLowerCase(), value)
    for (const value of [...credentialsOf(baseUrl), ...queryKeysOf(baseUrl)]) this.#add(value)
    for (const url of [proxy.httpProxy, proxy.httpsProxy])
      for (const value of credentialsOf(url ?? '')) this.#add(value)
  }

  /** The last chunk of a call with nothing secret in its failure. */
  hideIn(end: ModelEnd): ModelEnd {
    if (!('reply' in end)) return { ...end, failure: this.#hideInFailure(end.failure) }
    return { ...end, reply: { ...end.reply, rawFinish: this.hide(end.reply.rawFinish) } }
  }

  /** The text with `***` for what is secret. */
  hide(text: string): string {
    const covered = this.#covered(text)
    let shown = ''
    for (let at = 0; at < text.length; at++) {
      if (covered[at] === 0) shown += text[at]!
      else if (covered[at - 1] !== 1) shown += HIDDEN
    }
    for (const whole of this.#wholes) shown = withoutWord(shown, whole)
    return wellFormed(shown)
  }

  #hideInFailure(failure: Failure): Failure {
    const hidden: Record<string, unknown> = { ...failure }
    for (const [key, value] of Object.entries(failure))
      if (key !== 'kind' && typeof value === 'string') hidden[key] = this.hide(value)
    return hidden as unknown as Failure
  }

  /** 1 for each unit that belongs to a secret. */
  #covered(text: string): Uint8Array {
    const covered = new Uint8Array(text.length)
    for (let at = 0; at + PIECE <= text.length; at++)
      if (this.#pieces.has(text.slice(at, at + PIECE))) covered.fill(1, at, at + PIECE)
    for (let cut = text.indexOf(CUT); cut !== -1; cut = text.indexOf(CUT, cut + 1))
      for (let length = HEAD_MIN; length < PIECE && length <= cut; length++)
        if (this.#heads.has(text.slice(cut - length, cut))) covered.fill(1, cut - length, cut)
    return covered
  }

  #addHeader(name: string, value: string): void {
    if (PUBLIC.has(name)) return
    if (NAMES.has(name)) this.#wholes.add(value.trim())
    else for (const part of [value.trim(), ...partsOf(name, value)]) this.#add(part)
  }

  #add(secret: string): void {
    // Anybody may say `https://`.
    const value = secret.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    for (const form of formsOf(value)) {
      if (form.length < WHOLE_MIN) continue
      if (form.length < PIECE) this.#wholes.add(form)
      for (let at = 0; at + PIECE <= form.length; at++) this.#pieces.add(form.slice(at, at + PIECE))
      for (let length = HEAD_MIN; length < PIECE; length++) this.#heads.add(form.slice(0, length))
    }
  }
}

/** What stands before the host of a URL: the pair, its halves, and the pair as a header carries it. */
function credentialsOf(url: string): readonly string[] {
  const pair = /^[^/?#]*\/\/([^/?#]*)@/.exec(url)?.[1]
  if (pair === undefined || pair === '') return []
  const colon = pair.indexOf(':')
  const halves = colon === -1 ? [pair] : [pair.slice(0, colon), pair.slice(colon + 1)]
  const decoded = halves.map(unescaped)
  return [pair, ...halves, ...decoded, Buffer.from(decoded.join(':')).toString('base64')]
}

/** Some endpoints take their key in the query. */
function queryKeysOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  return [...new URL(url).searchParams].filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value)
}

const SECRET_NAME = /key|token|secret|auth|cookie|sig|pass|cred/i

/** What a header that names its purpose has behind a scheme such as `Basic`, or in pairs. */
function partsOf(name: string, value: string): readonly string[] {
  return SECRET_NAME.test(name) ? value.split(/[\s;,]+|(?<=\w)=(?=\w)/).filter((part) => part.length >= PIECE) : []
}

/** A secret as it is, and as it stands in JSON, in JSON that is quoted as JSON, in a URL and in a page. */
function formsOf(value: string): ReadonlySet<string> {
  const inJson = JSON.stringify(value).slice(1, -1)
  const quotedTwice = JSON.stringify(inJson).slice(1, -1)
  const inPage = value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const named = value.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
  return new Set([value, unescaped(value), inJson, quotedTwice, encodeURIComponent(wellFormed(value)), inPage, named])
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#x27;',
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone percent sign: it means itself.
    return text
  }
}

function withoutWord(text: string, word: string): string {
  if (word.length < WHOLE_MIN) return text
  const literal = word.replace(/[^\w\s]/g, String.raw`\$&`)
  return text.replace(new RegExp(`(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`, 'g'), HIDDEN)
}
