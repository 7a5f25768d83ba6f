import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drivenIn, filesIn } from './files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnstep-files-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function put(...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
}

describe('the files of a run', () => {
  it('W4: do not count what SQLite keeps beside an open database, and count what only has such a name', () => {
    put('sessions.db', 'sessions.db-shm', 'sessions.db-wal', 'a/b.db', 'a/b.db-wal', 'lost-wal', 'x.tmp')
    expect(filesIn(folder)).toEqual(['a/b.db', 'lost-wal', 'sessions.db', 'x.tmp'])
  })

  it('W4: tell in which databases sessions are driven', () => {
    put('free.db', 'sessions.db', 'sessions.db-runners/1.lock', 'sessions.db-runners/2.lock', 'yarn.lock')
    expect(drivenIn([folder])).toEqual([join(folder, 'sessions.db')])
  })
})
