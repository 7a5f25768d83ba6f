/** The reference pages and the sources say the same, in both directions. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree, shippedSources } from '../tidy/tree.ts'
import { membersOf, textsOf, variantsOf, type Variant } from './declared.ts'
import { WORDINGS, type Locale } from '../../src/runtime/wording.ts'
import { codesIn, tableRows, type Row } from './tables.ts'

const tree = readTree(fileURLToPath(new URL('../..', import.meta.url)))
const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

const EVENTS = read('src/kernel/events.ts')
const OUTCOME = read('src/kernel/outcome.ts')
const SESSION = read('src/runtime/session.ts')
const AGENT = read('src/runtime/define/agent.ts')
const HARNESS = read('src/runtime/session/harness.ts')

/** Rows whose first cell is one code span, as variants: the fields are the code spans of the column `fields`. */
function documented(rows: readonly Row[]): Variant[] {
  return rows.map((row) => ({ tag: codesIn(Object.values(row)[0]!).join(), fields: codesIn(row['fields'] ?? '') }))
}

/** The code spans of the first cells. */
function named(rows: readonly Row[]): string[] {
  return rows.flatMap((row) => codesIn(Object.values(row)[0]!))
}

function sorted(variants: readonly Variant[]): Variant[] {
  return variants.toSorted((one, other) => (one.tag < other.tag ? -1 : 1))
}

const plain = (members: readonly string[]): string[] => members.map((member) => member.replace('?', ''))

describe('docs/reference/events.md', () => {
  const page = read('docs/reference/events.md')

  it('names every event with all its fields, and no other', () => {
    const rows = tableRows(page).filter((row) => 'event' in row)
    expect(sorted(documented(rows))).toEqual(sorted(variantsOf(EVENTS, 'EventBody', 'type')))
  })

  it('names the fields of the head', () => {
    expect(named(tableRows(page).filter((row) => 'head' in row))).toEqual(membersOf(EVENTS, 'EventHead'))
  })

  it('marks as later exactly what nothing in the runtime writes', () => {
    const later = tableRows(page, 'Later').map((row) => codesIn(row['event']!)[0]!)
    const runtime = shippedSources(tree).filter(({ path }) => path.startsWith('src/runtime/'))
    const written = runtime.map(({ text }) => text).join()
    for (const { tag } of variantsOf(EVENTS, 'EventBody', 'type')) {
      const isLater = later.includes(tag) || tag === 'session.forked'
      expect(written.includes(`type: '${tag}'`), tag).toBe(!isLater)
    }
  })
})

describe('docs/reference/hooks.md', () => {
  const page = read('docs/reference/hooks.md')
  const plugin = read('src/runtime/define/plugin.ts')

  it('names every hook, in the order of its source', () => {
    expect(named(tableRows(page).filter((row) => 'hook' in row))).toEqual(membersOf(plugin, 'Hooks'))
  })

  it('says of every hook when it is asked, what it may answer, how several add up, and what a failure means', () => {
    const empty = tableRows(page).filter((row) => 'hook' in row && Object.values(row).includes(''))
    expect(empty).toEqual([])
  })

  it('names what a hook is told', () => {
    expect(named(tableRows(page).filter((row) => 'context' in row)).toSorted()).toEqual(
      membersOf(plugin, 'HookContext').toSorted(),
    )
  })
})

describe('docs/reference/outcomes.md', () => {
  const page = read('docs/reference/outcomes.md')
  const section = (heading: string): Variant[] => sorted(documented(tableRows(page, heading)))

  it.each([
    ['How a turn ended', OUTCOME, 'TurnOutcome'],
    ['What became of a call', OUTCOME, 'CallOutcome'],
    ['What became of an input', read('src/kernel/input.ts'), 'ReceiptState'],
    ['What a session is doing', SESSION, 'SessionStatus'],
  ])('%s: the kinds and fields of the source', (heading, source, type) => {
    expect(section(heading)).toEqual(sorted(variantsOf(source, type)))
  })

  it.each([
    ['Why a call was not started', OUTCOME, 'NotStartedReason'],
    ['What went wrong with a model call', read('src/kernel/failure.ts'), 'FailureKind'],
  ])('%s: the texts of the source', (heading, source, type) => {
    expect(named(tableRows(page, heading)).toSorted()).toEqual(textsOf(source, type).toSorted())
  })
})

describe('docs/reference/config.md', () => {
  const page = read('docs/reference/config.md')
  const tool = read('src/runtime/define/tool.ts')

  it.each([
    ['The agent', AGENT, ['AgentSpec']],
    ['Limits', AGENT, ['AgentLimits']],
    ['The harness', HARNESS, ['HarnessOptions', 'HarnessPorts']],
    ['Opening a session', HARNESS, ['OpenOptions']],
    ['Posting', SESSION, ['PostOptions']],
    ['A tool', tool, ['ToolDefinition']],
    ['The file `turnstep.config`', read('src/presets/config.ts'), ['ProjectConfig']],
  ])('%s: the options of the source', (heading, source, types) => {
    const declared = types.flatMap((type) => plain(membersOf(source, type)))
    expect(named(tableRows(page, heading)).toSorted()).toEqual(declared.toSorted())
  })

  it('gives the defaults of the source', () => {
    const defaults = [...AGENT.matchAll(/limits\.(\w+) \?\? (?:'(\w+)'|([\d_]+))/g)]
    const inSource = Object.fromEntries(
      defaults.map(([, name, text, number]) => [name, text ?? Number(number!.replaceAll('_', ''))]),
    )
    const rows = tableRows(page, 'Limits').map((row) => {
      const text = codesIn(row['default']!)[0]
      return [codesIn(row['limit']!)[0]!, text ?? Number(row['default']!.replaceAll(',', ''))]
    })
    expect(Object.fromEntries(rows)).toEqual(inSource)
  })

  it('names every variable of our own', () => {
    const asked = shippedSources(tree).flatMap(({ text }) =>
      [...text.matchAll(/'(TURNSTEP_\w+)'/g)].map(([, name]) => name!),
    )
    const listed = named(tableRows(page, 'Environment')).filter((name) => name.startsWith('TURNSTEP_'))
    expect(listed.toSorted()).toEqual([...new Set(asked)].toSorted())
  })

  it('names the variables of every provider', () => {
    const variables = [...read('src/presets/resolve-model.ts').matchAll(/'([A-Z0-9_]+_(?:API_KEY|BASE_URL))'/g)].map(
      ([, name]) => name!,
    )
    const listed = named(tableRows(page, 'Environment')).filter((name) => /^[A-Z].*_(API_KEY|BASE_URL)$/.test(name))
    expect(listed.toSorted()).toEqual([...new Set(variables)].toSorted())
  })
})

describe('the guides', () => {
  it.each([
    ['docs/guides', 'en'],
    ['docs/zh', 'zh'],
  ] as const)('%s quote what is really said', (folder, locale: Locale) => {
    const { outcome, steerMark } = WORDINGS[locale]
    const crashes = read(`${folder}/crashes.md`)
    expect(crashes).toContain(outcome({ kind: 'unknown', reason: 'crashed' }, 'write'))
    expect(crashes).toContain(outcome({ kind: 'not-started', reason: 'stale' }, 'write'))
    expect(read(`${folder}/steering-and-queues.md`)).toContain(steerMark)
  })

  it('name the providers of the source, with their keys and addresses', () => {
    const source = read('src/presets/resolve-model.ts')
    const rows = tableRows(read('docs/guides/models.md')).filter((row) => 'provider' in row)
    const names = [...source.matchAll(/ names: \[([^\]]+)\]/g)].map(([, list]) => list!.replaceAll("'", ''))
    expect(rows.map((row) => codesIn(row['provider']!).join(', '))).toEqual(names.filter((name) => name !== 'name'))
    for (const row of rows)
      for (const code of [row['key']!, row['where']!].flatMap(codesIn)) expect(source).toContain(code)
  })
})

describe('the reading of pages and sources', () => {
  const page =
    '# A\n| kind | fields |\n|---|---|\n| `a` | `x`, `y?` |\n## B\n| one |\n|---|\n| a \\| b |\n# C\n| one |\n|---|\n| c |\n'
  const source = `export interface I { readonly a: string; b?(): void }
    export type U = { readonly kind: 'a'; readonly x: 1; readonly y?: 2 } | { readonly kind: 'b' | 'c' }
    export type T = 'p' | 'q'`

  it('gives the rows of a section, and of the sections in it', () => {
    expect(documented(tableRows(page, 'A').slice(0, 1))).toEqual([{ tag: 'a', fields: ['x', 'y?'] }])
    expect(tableRows(page, 'B')).toEqual([{ one: 'a | b' }])
    expect(tableRows(page, 'D')).toEqual([])
  })

  it('gives members, variants and texts', () => {
    expect(membersOf(source, 'I')).toEqual(['a', 'b?'])
    expect(variantsOf(source, 'U')).toEqual([
      { tag: 'a', fields: ['x', 'y?'] },
      { tag: 'b', fields: [] },
      { tag: 'c', fields: [] },
    ])
    expect(textsOf(source, 'T')).toEqual(['p', 'q'])
    expect(() => membersOf(source, 'J')).toThrow('declares no J')
  })
})
