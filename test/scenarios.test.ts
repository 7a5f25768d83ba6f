/**
 * Runs `scenarios/*.txt`. `TURNSTEP_REWRITE=1` writes what was printed into the files; read the difference before you keep it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { env } from '../src/host/node.ts'
import { playScenario } from './kit/scenario/play.ts'

const FOLDER = new URL('scenarios/', import.meta.url)
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

describe('scenarios', () => {
  it.each(NAMES)('%s', async (name) => {
    const file = new URL(name, FOLDER)
    const text = readFileSync(file, 'utf8')
    const played = await playScenario(text)
    if (env('TURNSTEP_REWRITE') === '1') writeFileSync(file, played.text)
    else expect(played.text).toBe(text)
    expect(played.error).toBeNull()
  })
})
