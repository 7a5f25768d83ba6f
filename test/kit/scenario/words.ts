/** The grammar of a command: a word, then `key=value` options and flags, then text. */

/** The first word, and what is left. */
export function splitWord(text: string): [word: string, rest: string] {
  const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(text.trim())!
  return [word, rest]
}

export interface Parsed {
  readonly options: Readonly<Record<string, string>>
  readonly rest: string
}

/** Takes leading `key=value` pairs, and words that are `flags`, off a text. */
export function optionsOf(text: string, flags: readonly string[] = []): Parsed {
  const options: Record<string, string> = {}
  let rest = text.trim()
  for (;;) {
    const [word, after] = splitWord(rest)
    const [, key, value] = /^([a-zA-Z]+)=(\S+)$/.exec(word) ?? []
    if (key !== undefined) options[key] = value!
    else if (flags.includes(word)) options[word] = 'true'
    else return { options, rest }
    rest = after
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** `5s`, `250ms`, `2m`, `1h`. */
export function msOf(text: string): number {
  const [, amount, unit] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? []
  if (amount === undefined) throw new Error(`"${text}" is no time; write 5s, 250ms, 2m or 1h`)
  return Number(amount) * UNIT_MS[unit!]!
}
