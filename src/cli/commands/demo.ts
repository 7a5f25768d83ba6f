/** `turnstep demo`: the contract as a story, on real files and real processes, without a key. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, nodeClock, nodeIds } from '../../host/node.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import { sessionId } from '../../kernel/ids.ts'
import { createHarness } from '../../presets/harness.ts'
import type { Locale } from '../../runtime/wording.ts'
import { sqliteStore } from '../../stores/sqlite/index.ts'
import { checkAll, type Evidence } from '../demo/checks.ts'
import { Cleanup } from '../demo/cleanup.ts'
import { deskAt, layOut, payments, SESSION, type Desk } from '../demo/desk.ts'
import { LogView } from '../demo/log-view.ts'
import { Page, type Output } from '../demo/page.ts'
import { play } from '../demo/story.ts'
import { WORDS } from '../demo/words.ts'
import { WorkerProcess, type WorkerEnd } from '../demo/worker-process.ts'

export interface DemoOptions {
  readonly locale: Locale
  /** Leaves the folder behind and says where it is. */
  readonly keep?: boolean
  /** Tells no story; ends with one line of JSON: `{ checks, events, ms }`, with `error` if it did not get to its end. */
  readonly json?: boolean
  /** No pauses for reading; the same where the output is no terminal. */
  readonly fast?: boolean
  /** Default: on a terminal, unless `NO_COLOR` is set. */
  readonly color?: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** What is played, and with what. */
interface Show {
  readonly options: DemoOptions
  readonly desk: Desk
  readonly page: Page
  readonly cleanup: Cleanup
  readonly evidence: Evidence
}

/**
 * Plays the demo and answers the exit code: 0 if every check holds, 1 if one does not, 130 if it was broken off (Ctrl-C). Whatever
 * happens, its processes and its folder are gone afterwards; `keep` leaves the folder.
 */
export async function demo(options: DemoOptions): Promise<number> {
  const startedAt = nodeClock.now()
  const desk = deskAt(mkdtempSync(join(tmpdir(), 'turnstep-demo-')), options.locale)
  const cleanup = new Cleanup(options.keep === true ? null : desk.root)
  const show: Show = { options, desk, cleanup, page: pageOf(options, cleanup.signal), evidence: noEvidence() }
  let problem: Error | null = null
  try {
    await perform(show)
  } catch (error) {
    problem = error as Error
  } finally {
    show.evidence.left = await cleanup.run()
  }
  if (cleanup.signal.aborted) {
    options.stderr.write(`${WORDS[options.locale].brokenOff}\n`)
    return BROKEN_OFF
  }
  return report(show, problem, startedAt)
}

/** As shells say it of a process that a Ctrl-C ended. */
const BROKEN_OFF = 130

function pageOf(options: DemoOptions, signal: AbortSignal): Page {
  const { stdout, json = false, fast = false } = options
  const isTerminal = stdout.isTTY === true
  return new Page({
    output: json ? { write: () => {} } : stdout,
    words: WORDS[options.locale],
    color: options.color ?? (isTerminal && env('NO_COLOR') === undefined),
    paced: isTerminal && !fast && !json,
    clock: nodeClock,
    signal,
  })
}

function noEvidence(): Evidence {
  return {
    events: [],
    writers: new Map(),
    payments: [],
    killed: null,
    ended: null,
    told: null,
    damage: undefined,
    left: [],
  }
}

async function perform({ options, desk, page, cleanup, evidence }: Show): Promise<void> {
  layOut(desk)
  const store = await sqliteStore({ path: desk.store, clock: nodeClock, ids: nodeIds })
  await store.create(sessionId(SESSION))
  const harness = await createHarness({ store, locale: options.locale })
  let worker: WorkerProcess | null = null
  try {
    const session = await harness.attach(SESSION)
    const log = new LogView({
      session,
      clock: nodeClock,
      signal: cleanup.signal,
      show(event) {
        if (worker !== null && !evidence.writers.has(event.fence)) evidence.writers.set(event.fence, worker.pid)
        return page.event(event)
      },
    })
    evidence.events = log.events
    const startWorker = ({ hold }: { readonly hold: boolean }): WorkerProcess => {
      const started = new WorkerProcess(desk, { hold })
      cleanup.adopt(started)
      void started.ended.then((end) => {
        // The one that holds is killed by us; only the other comes to an end of its own.
        if (!started.isKilled && (hold || end.code !== 0)) log.fail(endedTooEarly(started, end))
      })
      return (worker = started)
    }
    await play({ desk, store, session, log, page, words: WORDS[options.locale], startWorker }, evidence)
  } finally {
    evidence.payments = payments(desk)
    await harness.close()
  }
}

function endedTooEarly({ pid, errors }: WorkerProcess, { code, signal }: WorkerEnd): TurnstepError {
  const how = signal === null ? `with code ${code}` : `by ${signal}`
  return new TurnstepError('script-failed', `process ${pid} ended ${how} before it was done. ${errors}`.trim())
}

/** The log, the checks, the sum of it all. */
async function report(
  { options, desk, page, evidence }: Show,
  problem: Error | null,
  startedAt: number,
): Promise<number> {
  const words = WORDS[options.locale]
  const { events, writers, damage } = evidence
  const checks = checkAll(evidence, desk.scene)
  const results = Object.values(checks)
  const passed = results.filter(Boolean).length
  const isGood = problem === null && passed === results.length
  await page.act('log')
  if (damage !== undefined)
    await page.say('store', damage === null ? words.verified(events.length) : words.damaged(damage.reason))
  page.timeline(events, ({ fence }) => String(writers.get(fence) ?? '?'))
  await page.act('checks')
  page.checks(checks)
  const ms = nodeClock.now() - startedAt
  page.ending(words.summary(passed, results.length, ms), isGood)
  page.note(options.keep === true ? words.kept(desk.root) : words.removed)
  if (options.json === true) {
    const failed = problem === null ? {} : { error: problem.message }
    options.stdout.write(`${JSON.stringify({ checks, events: events.length, ms, ...failed })}\n`)
  }
  if (problem !== null) options.stderr.write(`${words.failed(problem.message)}\n`)
  return isGood ? 0 : 1
}
