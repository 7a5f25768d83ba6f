/**
 * An abort while tools run that hear it or do not, and while the model speaks; then the user says something else: in the same
 * process, after a kill, or after a kill in the middle of the abort. Every history has to be valid.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Message, Tool } from 'turnstep'
import { openDesk, say, sayRequest, sayRest, slowTool } from '../desk.ts'
import { textOf } from '../history.ts'
import { saidIn, type Rig, type Scenario } from '../rig.ts'
import { call, StandIn, type Said } from '../stand-in.ts'
import type { Job } from '../talk.ts'
import { tally } from '../verdict.ts'

/** What is going on when the abort comes: these tools, or none, while the model speaks. */
const GOING_ON: Readonly<Record<string, readonly string[]>> = {
  hears: ['hears'],
  change: ['change'],
  both: ['hears', 'deaf'],
  model: [],
}

/** Where the next message is sent: in the same process, or in another one after the kill. */
const AFTER = ['the abort', 'a kill', 'a kill in the abort'] as const

const TOOL_MS = 200
const LATENCY_MS = 100
/** How far into the tools or the reply the abort comes at most, and how far into the abort the kill. */
const LEAD_MS = 60

export const dangling: Scenario = {
  async live(job) {
    const desk = await openDesk(job)
    const { model, tools, underWay } = stage(GOING_ON[job.variant!.split('/')[0]!]!)
    const session = await desk.open({ model, tools })
    if (job.sends) {
      await session.send('go')
      await underWay
      await wait(job.seed % LEAD_MS)
      say({ what: 'start' })
      await session.abort()
      await sayRest(session)
    }
    // What is sent before the abort has settled is held (I9).
    await session.settled()
    if (job.stays !== true) {
      await session.send('again')
      await sayRest(session)
    }
    await desk.harness.close()
  },

  async run(rig) {
    const variants = Object.keys(GOING_ON).flatMap((what) => AFTER.map((after) => ({ what, after })))
    const tasks = variants.map((one) => ({ ...one, job: rig.firstJob('dangling', `${one.what}/${one.after}`) }))
    const sessions = await rig.inLanes(tasks, (task) => abortAndGoOn(rig, task))
    const kills = sessions.filter(({ killed }) => killed).length
    const invalid = sessions.filter(({ faults }) => faults.length > 0)
    return {
      counts: { kills, invalid: invalid.length },
      seen: `${sessions.length} aborts, ${kills} kills; first turns ended: ${tally(sessions.map(({ turns }) => turns[0] ?? 'never'))}`,
      wrong: [
        ...invalid.map(({ variant, faults }) => `${variant}: ${faults.join('; ')}`),
        ...sessions
          .filter(({ turns, mayComplete }) => !isWell(turns, mayComplete))
          .map(({ variant, turns }) => `${variant}: turns ended ${turns.join(', ')}`),
      ],
    }
  },
}

/** A model that calls these tools, or speaks for a while where there are none; `underWay` resolves once all of that goes on. */
function stage(names: readonly string[]): {
  readonly model: StandIn
  readonly tools: Tool[]
  readonly underWay: Promise<void>
} {
  let begin = (): void => {}
  const underWay = new Promise<void>((resolve) => (begin = resolve))
  let bodies = 0
  const onBody = (running: boolean): void => {
    if (running && ++bodies === names.length) begin()
  }
  const ms = (): number => TOOL_MS
  return {
    model: new StandIn((history) => reply(history, names), {
      latencyMs: names.length === 0 ? LATENCY_MS : 10,
      onRequest: (history) => {
        sayRequest(history)
        if (names.length === 0) begin()
      },
    }),
    tools: [
      slowTool('hears', { ms, hears: true, effect: 'read', onBody }),
      slowTool('deaf', { ms, effect: 'read', onBody }),
      slowTool('change', { ms, onBody }),
    ],
    underWay,
  }
}

function reply(history: readonly Message[], names: readonly string[]): Said {
  const said = history.findLast((message) => message.role === 'user')
  const isOver = history.at(-1)?.role === 'tool' || (said?.role === 'user' && textOf(said.content).includes('again'))
  if (isOver) return { text: 'Done.' }
  return names.length === 0 ? { text: 'Let me think.' } : { calls: names.map((name) => call(name, {})) }
}

interface Aborted {
  readonly variant: string
  readonly killed: boolean
  /** The kill may have come before the abort was durable. */
  readonly mayComplete: boolean
  readonly faults: readonly string[]
  readonly turns: readonly string[]
}

async function abortAndGoOn(
  rig: Rig,
  { job, after }: { readonly job: Job; readonly after: (typeof AFTER)[number] },
): Promise<Aborted> {
  const lives = []
  if (after === 'a kill in the abort')
    lives.push(await rig.kill(job, { kind: 'slice', afterMs: rig.chance.next() * LEAD_MS }))
  if (after === 'a kill') {
    const first = rig.start({ ...job, stays: true })
    await first.says('rest')
    await first.kill()
    lives.push(first)
  }
  const last = await rig.finish({ ...job, life: lives.length + 1, sends: lives.length === 0 })
  lives.push(last)
  const faults = saidIn(lives, 'request').flatMap((request) => request.faults)
  const turns = last.said('rest').at(-1)?.turns ?? []
  if (faults.length === 0) rig.forget(job)
  return {
    variant: job.variant!,
    killed: lives.length > 1,
    mayComplete: after === 'a kill in the abort',
    faults,
    turns,
  }
}

function isWell(turns: readonly string[], mayComplete: boolean): boolean {
  const [first, second, ...more] = turns
  return (first === 'aborted' || (mayComplete && first === 'completed')) && second === 'completed' && more.length === 0
}
