/** What is measured, whoever does it: a loop that a case can give turns to. */
import { nowUs } from './measure.ts'
import type { Plan, Script } from './script.ts'

export interface Peer {
  open(id: string): Promise<Talk>
  close(): Promise<void>
}

/** One session. */
export interface Talk {
  /** One turn, to its end. */
  run(input: string): Promise<void>
  close(): Promise<void>
}

let opened = 0

export interface TurnOptions {
  /** The caller reads the reply as it streams, and must see all of it. */
  readonly deltas?: boolean
  /** Default: the clock on the wall. */
  readonly clock?: () => number
}

/** One turn of a fresh session, checked. Answers its time, opening and closing left out. */
export async function turnUs(
  peer: Peer,
  script: Script,
  plan: Plan,
  { deltas = false, clock = nowUs }: TurnOptions = {},
): Promise<number> {
  const talk = await peer.open(`s${opened++}`)
  script.plan(plan)
  const start = clock()
  await talk.run('go')
  const us = clock() - start
  script.check({ deltas })
  await talk.close()
  return us
}
