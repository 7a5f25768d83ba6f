/**
 * Strings that every JSON parser accepts. A JavaScript string may hold half of a surrogate pair, which strict parsers refuse
 * for ever after (case 098); nothing leaves this process in that form (X8), while the log keeps what there was.
 */

/** The text with every lone surrogate replaced by U+FFFD; the same string where there is none. */
export function wellFormed(text: string): string {
  return nativeWellFormed === undefined ? text.replace(LONE, '\uFFFD') : nativeWellFormed.call(text)
}

/** JSON text of the value in which every string, keys included, is well-formed. `undefined` has none and is refused. */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (json === undefined)
    throw new TypeError(`no JSON for a value of type ${typeof value}: pass null, or leave the key out`)
  // JSON.stringify writes a lone surrogate, and nothing else, as an escape that starts so.
  return json.includes('\\ud') ? json.replace(ESCAPE, replaceLone) : json
}

/** The largest index up to `index` that does not stand inside a surrogate pair: cut there (case 098). */
export function borderAt(text: string, index: number): number {
  if (index <= 0) return 0
  if (index >= text.length) return text.length
  return isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index)) ? index - 1 : index
}

const LONE = /\p{Surrogate}/gu
/** Any escape, so that an escaped backslash before `ud…` is taken as one. */
const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|u[0-9a-f]{4}|.)/g

const nativeWellFormed = (String.prototype as { readonly toWellFormed?: () => string }).toWellFormed

function replaceLone(escape: string): string {
  return escape.startsWith('\\ud') ? '\uFFFD' : escape
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
