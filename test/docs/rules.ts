/** What can be wrong with a row of the table of rules. Pure functions, shown to fail in `rules.test.ts`. */
import type { Files } from './pages.ts'

/** A row of the table, its cells as they are written. */
export interface RuleRow {
  readonly rule: string
  readonly short: string
  /** `` `file` `name` ``, separated by `<br>`; or `later`. */
  readonly enforced: string
  /** `` `file` › words of the test's name ``, or a file that names the rule, separated by `<br>`; or `later`. */
  readonly proved: string
}

const WORDS_MAX = 12

/** The numbers of the rules of the contract, in its order. */
export function contractRules(contract: string): string[] {
  return [...contract.matchAll(/^- \*\*([A-Z]\d+)\*\* /gm)].map(([, rule]) => rule!)
}

/** Every complaint about a row, each a sentence. */
export function faultsOfRow(files: Files, { rule, short, enforced, proved }: RuleRow): string[] {
  const words = short.split(/\s+/).length
  return [
    ...(words > WORDS_MAX ? [`${words} words`] : []),
    ...(says(enforced, 'src/') ? [] : ['enforced nowhere, and not marked `later`']),
    ...(says(proved, '(src|test|examples)/') ? [] : ['proved nowhere, and not marked `later`']),
    ...(/`src\//.test(enforced) && !/`(src|test|examples)\//.test(proved) ? ['built, and proved by no test'] : []),
    ...entries(enforced).flatMap((entry) => placeFaults(files, entry)),
    ...entries(proved).flatMap((entry) => proofFaults(files, rule, entry)),
  ].map((fault) => `${rule}: ${fault}`)
}

function says(cell: string, under: string): boolean {
  return new RegExp('`' + under).test(cell) || /\blater\b/.test(cell)
}

function entries(cell: string): string[] {
  return cell.split('<br>').map((entry) => entry.trim())
}

/** A file, and the names behind it. */
function placeFaults(files: Files, entry: string): string[] {
  const [path, ...names] = [...entry.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
  if (path === undefined || path === 'later') return []
  const text = files.get(path)
  if (text === undefined) return [`no file ${path}`]
  return names.filter((name) => !text.includes(name)).map((name) => `${path} has no ${name}`)
}

function proofFaults(files: Files, rule: string, entry: string): string[] {
  const found = /^`([^`]+\/[^`]+)`(?: › (.+))?$/.exec(entry)
  if (found === null) return []
  const [, path, name] = found
  const text = files.get(path!)
  if (text === undefined) return [`no file ${path}`]
  if (name !== undefined) return text.includes(name) ? [] : [`${path} has no "${name}"`]
  return new RegExp(`\\b${rule}\\b`).test(text) ? [] : [`${path} does not name ${rule}`]
}
