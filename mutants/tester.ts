/**
 * One vitest that stays open, and runs named tests with or without a fault. Owns the planting: it is done while the source is
 * transformed, so that nothing on the disk changes. Each run starts a thread of its own, which loads every module anew.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { transformWithOxc } from 'vite'
import { createVitest, type TestCase, type Vitest } from 'vitest/node'
import { plant, type Catcher, type Mutant } from './mutant.ts'

/** What became of a fault. `stale` says nothing about it: the fault, or its test, is not what the list says. */
export type Verdict = { readonly kind: 'caught' } | { readonly kind: 'survived' | 'stale'; readonly why: string }

/** Tests of ours wait for no clock: one that takes so long hangs, and fails for that. */
const TEST_MS = 10_000

export class Tester {
  readonly #root: string
  #vitest!: Vitest
  #planted: { readonly path: string; readonly text: string } | null = null

  private constructor(root: string) {
    this.#root = root
  }

  static async open(root: string): Promise<Tester> {
    const tester = new Tester(root)
    tester.#vitest = await createVitest(
      'test',
      {
        root,
        watch: false,
        cache: false,
        maxWorkers: 1,
        reporters: [{}],
        silent: true,
        // What a fault leaves behind is not what it is to be known by.
        setupFiles: [],
        testTimeout: TEST_MS,
      },
      { plugins: [{ name: 'plant', enforce: 'pre', transform: (_code, id) => tester.#textOf(id) }] },
    )
    return tester
  }

  close(): Promise<void> {
    return this.#vitest.close()
  }

  /** What is wrong with the catchers of one test file as long as no fault is planted; null: they are there, and pass. */
  async soundness(test: string, names: readonly string[]): Promise<string | null> {
    const cases = await this.#run(test, names)
    for (const name of names) {
      const found = cases.filter(({ fullName }) => fullName === name)
      if (found.length === 0) return `${test} has no test "${name}"`
      if (found.some((one) => one.result().state !== 'passed'))
        return `"${name}" of ${test} does not pass without the fault`
    }
    return null
  }

  /** Plants a fault, and has it caught by each of its catchers. */
  async prove(mutant: Mutant): Promise<Verdict> {
    const path = join(this.#root, mutant.file)
    const planted = plant(readFileSync(path, 'utf8'), mutant)
    if (planted.kind === 'stale') return planted
    const broken = await problemOf(planted.text, path)
    if (broken !== null) return { kind: 'stale', why: `${mutant.file} with the fault does not compile: ${broken}` }
    this.#planted = { path, text: planted.text }
    this.#vitest.invalidateFile(path)
    try {
      for (const catcher of mutant.caughtBy) {
        const why = await this.#survival(catcher)
        if (why !== null) return { kind: 'survived', why }
      }
      return { kind: 'caught' }
    } finally {
      this.#planted = null
      this.#vitest.invalidateFile(path)
    }
  }

  /** Why the planted fault was not caught; null: it was. */
  async #survival({ test, name, says }: Catcher): Promise<string | null> {
    const found = (await this.#run(test, [name])).filter(({ fullName }) => fullName === name)
    if (found.length === 0) return `${test} could not be loaded with it`
    const errors = found.flatMap((one) => one.result().errors ?? [])
    if (errors.length === 0) return `"${name}" of ${test} passes with it`
    const evidence = errors.map(evidenceOf).join('\n')
    if (evidence.includes(says)) return null
    return `"${name}" of ${test} fails with it, but says nothing of ${JSON.stringify(says)}:\n${evidence.slice(0, EVIDENCE_MAX)}`
  }

  async #run(test: string, names: readonly string[]): Promise<readonly TestCase[]> {
    const moduleId = join(this.#root, test)
    const testNamePattern = new RegExp(`^(${names.map(patternOf).join('|')})$`)
    const spec = this.#vitest.getRootProject().createSpecification(moduleId, { testNamePattern })
    const { testModules } = await this.#vitest.runTestSpecifications([spec])
    return [...(testModules.find((module) => module.moduleId === moduleId)?.children.allTests() ?? [])]
  }

  #textOf(id: string): string | null {
    return this.#planted?.path === id ? this.#planted.text : null
  }
}

const EVIDENCE_MAX = 4_000

/** Suites and test as vitest matches them: with a space in between. */
function patternOf(name: string): string {
  return name.replaceAll(' > ', ' ').replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
}

/** The message, and the lines of the difference that differ. */
function evidenceOf({ message, diff }: { readonly message: string; readonly diff?: string | undefined }): string {
  return [stripVTControlCharacters(message), ...differences(stripVTControlCharacters(diff ?? ''))].join('\n')
}

/** The lines that differ. An event of a scenario is the same wherever it stands in the log: its seq is left out. */
function differences(diff: string): string[] {
  const lines = diff.split('\n').filter((line) => /^[-+] /.test(line))
  return lines.map((line) => line.replace(/^([-+]) \d+ (?=\d+\.\d+ )/, '$1 '))
}

async function problemOf(text: string, path: string): Promise<string | null> {
  try {
    await transformWithOxc(text, path)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
