/**
 * Runs around every test file and fails it if it leaves a timer, a child process, a server, a watcher or a listener on the process.
 * Threads are not isolated here, so a leak would otherwise hit a file that has nothing to do with it.
 */
import { afterAll, beforeAll, expect } from 'vitest'
import { nodeClock } from '../../src/host/node.ts'
import { pause } from '../../src/runtime/pause.ts'
import { drainMicrotasks } from '../../src/testing/fake-clock.ts'
import type { Inventory } from './inventory.ts'
import { leftBehind, takeInventory } from './inventory.ts'

/** How long a file may take to let go after its last test. */
const PATIENCE_MS = 3_000

/** vitest has a timer of its own armed for a tenth of a second after each report of progress, as just before the first hook. */
const TIMERS_OF_RUNNER = 1

let before: Inventory = new Map()

beforeAll(() => {
  const now = takeInventory()
  before = new Map(now).set('Timeout', Math.max(0, (now.get('Timeout') ?? 0) - TIMERS_OF_RUNNER))
})

afterAll(async () => {
  const until = nodeClock.now() + PATIENCE_MS
  while (leftBehind(before, takeInventory()).length > 0 && nodeClock.now() < until) {
    await pause(nodeClock, 10)
    // A timer counts until its callback has returned, and this code runs inside that of the pause.
    await drainMicrotasks()
  }
  expect(leftBehind(before, takeInventory()), 'left behind by this file').toEqual([])
})
