import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { env } from '../src/host/node.ts'

/** What a run amounts to. */
export interface Counts {
  readonly passed: number
  readonly failed: number
}

/**
 * Prints `N passed, N failed` as the last line of a run, and writes the same as JSON to the file that `TURNSTEP_TEST_COUNTS`
 * names. A file that does not load, a failing hook and an error outside of any test count as one failure each.
 */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = countsOf(modules, unhandledErrors)
    const file = env('TURNSTEP_TEST_COUNTS')
    if (file !== undefined) writeFileSync(file, JSON.stringify(counts))
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`)
  }
}

function countsOf(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): Counts {
  let passed = 0
  let failed = unhandledErrors.length
  for (const module of modules) {
    failed += module.errors().length
    for (const suite of module.children.allSuites()) failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') passed++
      if (state === 'failed') failed++
    }
  }
  return { passed, failed }
}
