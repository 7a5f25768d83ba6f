/** What happens to processes and to what they stand on. */
import type { Chance } from '../chance.ts'
import { LEASE_MS } from '../world.ts'
import type { Action, Stage } from '../stage.ts'

interface OfProcess {
  readonly process: number
}

interface ForSoLong extends OfProcess {
  readonly ms: number
}

const ALIVE_MAX = 2

function one({ workers }: Stage, chance: Chance): OfProcess | null {
  return workers.length === 0 ? null : { process: chance.pick(workers).number }
}

function oneFor(stage: Stage, chance: Chance): ForSoLong | null {
  const process = one(stage, chance)
  return process === null ? null : { ...process, ms: 1 + chance.below(2 * LEASE_MS) }
}

/** A process comes up and opens the session; it may be told that another drives it. */
export const start: Action<OfProcess> = {
  name: 'start',
  weight: 15,
  propose(stage, chance) {
    const isNeeded = stage.workers.length === 0 || (stage.workers.length < ALIVE_MAX && chance.is(0.15))
    return isNeeded ? { process: stage.started + 1 } : null
  },
  perform: (stage, { process }) => void stage.startWorker(process),
}

/** It dies at this instant. */
export const kill: Action<OfProcess> = {
  name: 'kill',
  weight: 5,
  propose: one,
  perform: (stage, { process }) => stage.takeWorker(process)?.process.mortal.die(),
}

/** It ends as a process should. */
export const close: Action<OfProcess> = {
  name: 'close',
  weight: 2,
  propose: one,
  perform: (stage, { process }) => stage.takeWorker(process)?.process.harness.close(),
}

/** It stands still, and goes on later as if no time had passed: a zombie, if another took over meanwhile. */
export const freeze: Action<ForSoLong> = {
  name: 'freeze',
  weight: 3,
  propose: oneFor,
  perform: (stage, { process, ms }) => stage.freeze(process, ms),
}

/** It cannot reach the store for a while. */
export const cut: Action<ForSoLong> = {
  name: 'cut',
  weight: 3,
  propose: oneFor,
  perform(stage, { process, ms }) {
    const worker = stage.worker(process)
    worker?.process.mortal.cut(true)
    stage.later(ms, () => worker?.process.mortal.cut(false))
  },
}

/** The disk is full for a while. */
export const fill: Action<{ readonly ms: number }> = {
  name: 'fill',
  weight: 1,
  propose: (_stage, chance) => ({ ms: 1 + chance.below(LEASE_MS) }),
  perform(stage, { ms }) {
    stage.disk.isFull = true
    stage.later(ms, () => (stage.disk.isFull = false))
  },
}

/** A body that hangs comes back: the one that stands there among those that do. */
export const letGo: Action<{ readonly body: number }> = {
  name: 'let-go',
  weight: 20,
  propose({ hanging }, chance) {
    return hanging.length === 0 ? null : { body: chance.below(hanging.length) }
  },
  perform: (stage, { body }) => stage.letGo(body),
}
