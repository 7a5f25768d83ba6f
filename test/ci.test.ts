import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'turnstep-ci-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a script of `.ci` in the scratch folder. */
function run(
  script: string,
  ...args: readonly string[]
): { readonly code: number | null; readonly lines: readonly string[] } {
  const path = fileURLToPath(new URL(`../.ci/${script}`, import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], { cwd: folder, encoding: 'utf8' })
  return { code: status, lines: (stderr + stdout).trim().split('\n') }
}

function write(path: string, json: unknown): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(json))
  return file
}

describe('.ci/sum.mjs', () => {
  const good = write('good.json', { passed: 5, failed: 0 })
  const bad = write('bad.json', { passed: 3, failed: 2 })

  it('adds the lanes, and succeeds only if nothing failed', () => {
    expect(run('sum.mjs', '0', good, good)).toEqual({ code: 0, lines: ['10 passed, 0 failed'] })
    expect(run('sum.mjs', '1', good, bad)).toEqual({ code: 1, lines: ['8 passed, 2 failed'] })
  })

  it('counts a step that failed without a failing test, and does not call nothing a success', () => {
    expect(run('sum.mjs', '2', good, bad)).toEqual({ code: 1, lines: ['8 passed, 3 failed'] })
    expect(run('sum.mjs', '0')).toEqual({ code: 1, lines: ['0 passed, 0 failed'] })
  })
})

describe('.ci/installed.mjs', () => {
  it('passes packages without scripts, and fails on one that runs something when it is installed', () => {
    const packages: Record<string, object> = {
      '': {},
      'node_modules/quiet': {},
      'node_modules/absent': { hasInstallScript: true },
    }
    write('node_modules/quiet/package.json', { scripts: { test: 'x' } })
    write('package-lock.json', { packages })
    expect(run('installed.mjs')).toEqual({ code: 0, lines: ['1 packages, 0.0 MB'] })

    write('node_modules/loud/package.json', { scripts: { postinstall: 'x' } })
    write('package-lock.json', { packages: { ...packages, 'node_modules/loud': { dev: true } } })
    expect(run('installed.mjs')).toEqual({
      code: 1,
      lines: ['node_modules/loud runs on install: postinstall', '1 packages, 0.0 MB'],
    })
  })
})
