/**
 * Matches paths against globs: `*`, `?`, `[a-z]`, `{a,b}` inside a name, `**` across folders. Made for patterns that a model
 * wrote: no regular expression is built of them, and the time is bounded by pattern times path.
 */

/** Alternatives that braces may make. */
const ALTERNATIVES_MAX = 256

/**
 * Whether a path (relative, with `/`) is meant by the glob. A glob without `/` means the name in any folder; names that start
 * with a dot are names like others; a leading `!` means all that do not match.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  if (glob.startsWith('!')) {
    const isMatch = globMatcher(glob.slice(1))
    return (path) => !isMatch(path)
  }
  const patterns = expandBraces(glob.replace(/^\.?\/+/, '')).map((one) => segmentsOf(one, glob))
  return (path) => {
    const names = path.split('/')
    return patterns.some((segments) => matchSequence(segments, names, isAnyDepth, matchName))
  }
}

function segmentsOf(pattern: string, glob: string): readonly string[] {
  const isAnywhere = !pattern.includes('/') && !/^\.?\//.test(glob)
  const full = pattern.endsWith('/') ? `${pattern}**` : pattern
  return (isAnywhere ? `**/${full}` : full).split('/')
}

const isAnyDepth = (segment: string): boolean => segment === '**'

function matchName(segment: string, name: string): boolean {
  return matchSequence(tokensOf(segment), [...name], (token) => token === '*', matchCharacter)
}

function matchCharacter(token: string, character: string): boolean {
  if (token === '?') return true
  if (token.length > 1 && token.startsWith('[')) return matchClass(token, character)
  return token === character || token === `\\${character}`
}

/** Characters, escapes and classes of one name. A class without an end is a character. */
function tokensOf(segment: string): readonly string[] {
  return segment.match(/\\.|\[[!^]?\]?[^\]]*\]|./gsu) ?? []
}

function matchClass(token: string, character: string): boolean {
  const isNegated = /^\[[!^]/.test(token)
  const members = [...token.slice(isNegated ? 2 : 1, -1)]
  let found = false
  for (let index = 0; index < members.length; index++) {
    const low = members[index]!
    const isRange = members[index + 1] === '-' && index + 2 < members.length
    const high = isRange ? members[index + 2]! : low
    if (isRange) index += 2
    if (character >= low && character <= high) found = true
  }
  return found !== isNegated
}

/** Wildcards over a sequence: on a mismatch only the last one is widened, so no exponential time. */
function matchSequence(
  pattern: readonly string[],
  items: readonly string[],
  isWild: (part: string) => boolean,
  isMatch: (part: string, item: string) => boolean,
): boolean {
  let part = 0
  let wildAt = -1
  let resumeAt = 0
  for (let item = 0; item < items.length;) {
    if (part < pattern.length && isWild(pattern[part]!)) {
      wildAt = part++
      resumeAt = item
    } else if (part < pattern.length && isMatch(pattern[part]!, items[item]!)) {
      part += 1
      item += 1
    } else if (wildAt === -1) return false
    else {
      part = wildAt + 1
      item = ++resumeAt
    }
  }
  while (part < pattern.length && isWild(pattern[part]!)) part += 1
  return part === pattern.length
}

/** `a{b,c}d` is `abd` and `acd`. Beyond the bound, braces are taken as they are written. */
function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [pattern]
  for (let from = 0; from < done.length && done.length <= ALTERNATIVES_MAX;) {
    const open = innermost(done[from]!)
    if (open === null) from += 1
    else done.splice(from, 1, ...open)
  }
  return done.length <= ALTERNATIVES_MAX ? done : [pattern]
}

function innermost(pattern: string): readonly string[] | null {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(pattern)
  if (found === null) return null
  const before = pattern.slice(0, found.index)
  const after = pattern.slice(found.index + found[0].length)
  return found[1]!.split(',').map((middle) => before + middle + after)
}
