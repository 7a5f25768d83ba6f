/**
 * Runs `scenarios/*.txt`. `TURNSTEP_REWRITE=1` writes what was printed into the files; read the difference before you keep it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { env, nodeIds } from '../src/host/node.ts'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import { FakeClock } from '../src/testing/fake-clock.ts'
import { isOfProcesses, playScenario } from './kit/scenario/play.ts'

const FOLDER = new URL('scenarios/', import.meta.url)
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))
const textOf = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8')

describe('scenarios', () => {
  it.each(NAMES)('%s', async (name) => {
    const played = await playScenario(textOf(name))
    if (env('TURNSTEP_REWRITE') === '1') writeFileSync(new URL(name, FOLDER), played.text)
    else expect(played.text).toBe(textOf(name))
    expect(played.error).toBeNull()
  })
})

describe('scenarios on a SQLite file', () => {
  it.each(NAMES.filter((name) => !isOfProcesses(textOf(name))))('%s', async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'turnstep-scenario-'))
    const clock = new FakeClock()
    const store = await sqliteStore({ path: join(folder, 'sessions.db'), clock, ids: nodeIds })
    const played = await playScenario(textOf(name), { store, clock })
    rmSync(folder, { recursive: true })
    expect(played.text).toBe(textOf(name))
    expect(played.error).toBeNull()
  })
})
