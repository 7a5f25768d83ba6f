import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { createHarness } from '../../presets/harness.ts'
import type { TurnOutcome } from '../../kernel/outcome.ts'
import { pause } from '../../runtime/pause.ts'
import type { Session } from '../../runtime/session.ts'
import type { Locale } from '../../runtime/wording.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { bookkeeper, sumOfBills } from './bookkeeper.ts'
import { deskAt, layOut, payments, SESSION, type Desk } from './desk.ts'
import { decimal, expectedTotal, money, SCENES } from './scene.ts'

const LOCALES: readonly Locale[] = ['en', 'zh']
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Runs the first turn in this process, with nobody to kill it; the steer comes while the first bills are read. */
async function firstTurn({ locale, steered }: { readonly locale: Locale; readonly steered: boolean }) {
  const desk = freshDesk(locale)
  const clock = new FakeClock()
  let session: Session | null = null
  let bodies = 0
  const reach = async (point: string): Promise<void> => {
    if (point === 'after-body' && ++bodies === 2 && steered) await session!.steer(desk.scene.steer)
  }
  const harness = await createHarness({ store: 'memory', clock, locale, sync: { reach } })
  session = await harness.open(bookkeeper(desk), { session: SESSION })
  const turn = await session.send(desk.scene.request)
  let outcome: TurnOutcome | null = null
  void turn.outcome.then((end) => (outcome = end))
  // The files are real, so time stands still until the bank has the order; only its answer is waited for.
  for (let looks = 0; outcome === null && looks < 1_000; looks++) {
    await pause(nodeClock, 5)
    if (payments(desk).length > 0) await clock.advance(1_000)
  }
  await harness.close()
  return { desk, outcome: outcome as TurnOutcome | null }
}

function freshDesk(locale: Locale): Desk {
  const root = mkdtempSync(join(tmpdir(), 'turnstep-demo-test-'))
  folders.push(root)
  const desk = deskAt(root, locale)
  layOut(desk)
  return desk
}

describe.each(LOCALES)('the bookkeeper of the demo (%s)', (locale) => {
  const scene = SCENES[locale]

  it('adds up each file, whatever its format', () => {
    expect(scene.files.map(({ text }) => sumOfBills(text))).toEqual(scene.files.map(({ total }) => total))
  })

  it('fails, and pays nothing, if the harness lost the steer', async () => {
    const { desk, outcome } = await firstTurn({ locale, steered: false })
    expect(outcome).toMatchObject({ kind: 'error', failure: { kind: 'script' } })
    expect(JSON.stringify(outcome)).toContain(scene.steer)
    expect(payments(desk)).toEqual([])
  })

  it('obeys the steer, and fails if a write that should have been killed is said to be done', async () => {
    const { desk, outcome } = await firstTurn({ locale, steered: true })
    expect(payments(desk)).toEqual([`2026-05..2026-06,${scene.payee},${decimal(expectedTotal(scene))},t1s4c1`])
    expect(outcome).toMatchObject({ kind: 'error', failure: { kind: 'script' } })
    expect(JSON.stringify(outcome)).toContain('must be \\"unknown\\" and is \\"ok\\"')
  })
})

it('writes money as people do', () => {
  expect(money(1_476_85, SCENES.en)).toBe('1,476.85 EUR')
  expect(money(5, SCENES.zh)).toBe('0.05 元')
  expect(decimal(1_000_000_00)).toBe('1000000.00')
})
