/** What a planted fault is, and how it is planted. Pure: knows no file system and no test runner. */

/** One fault, planted on purpose while the source is transformed; only its tests see it. */
export interface Mutant {
  /** Unique, in kebab-case: what goes wrong, in a few words. */
  readonly id: string
  /** Rules of CONTRACT.md that it breaks, and field cases in which it, or its kind, was met. None: it leaks a key. */
  readonly rules: readonly string[]
  /** What goes wrong for the people who meet it, in one sentence. */
  readonly fault: string
  /** From the root of the project. */
  readonly file: string
  /** Occurs exactly once in `file`; a run of white space stands for any other. */
  readonly find: string
  /** Stands there instead. */
  readonly replace: string
  /** Each of these fails because of it, and passes without it. */
  readonly caughtBy: readonly Catcher[]
}

/** A test that a fault makes fail, and how one sees that it failed for this very reason. */
export interface Catcher {
  /** The test file, from the root of the project. */
  readonly test: string
  /** The whole name as vitest prints it: suites and test, with ` > ` in between. */
  readonly name: string
  /** Is part of the failure: of its message, or of the lines in which what came differs from what was expected. */
  readonly says: string
}

/** The test of a scenario in `test/scenarios`, played in memory. */
export function scenario(name: string, says: string): Catcher {
  return { test: 'test/scenarios.test.ts', name: `scenarios > ${name}.txt`, says }
}

/** A source with its fault, or why the fault cannot be planted there. */
export type Planted =
  | { readonly kind: 'planted'; readonly text: string }
  | { readonly kind: 'stale'; readonly why: string }

/** Plants a fault into the text of its file. */
export function plant(text: string, { file, find, replace }: Pick<Mutant, 'file' | 'find' | 'replace'>): Planted {
  const found = [...text.matchAll(patternOf(find))]
  if (found.length !== 1) {
    const why = `${JSON.stringify(find)} occurs ${found.length} times in ${file}; it must occur once: mend the snippet, or choose another place for the fault`
    return { kind: 'stale', why }
  }
  const [{ 0: seen, index }] = found as [RegExpExecArray]
  return { kind: 'planted', text: text.slice(0, index) + replace + text.slice(index + seen.length) }
}

/** Formatting may break a snippet over lines, or join it: white space is as good as any other. */
function patternOf(snippet: string): RegExp {
  const words = snippet.trim().split(/\s+/)
  return new RegExp(words.map((word) => word.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('\\s+'), 'g')
}
