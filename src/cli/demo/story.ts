/** The story, act by act. Drives nothing itself: it posts input, watches the log, and starts and kills the processes that do the work. */
import type { Event } from '../../kernel/events.ts'
import { textOf } from '../../kernel/message.ts'
import type { Store } from '../../runtime/ports.ts'
import type { SessionHandle } from '../../runtime/session.ts'
import { callOf, type Evidence } from './checks.ts'
import { payments, readIfThere, type Desk } from './desk.ts'
import type { LogView } from './log-view.ts'
import { alignFirst, type Page } from './page.ts'
import { money } from './scene.ts'
import type { Words } from './words.ts'
import type { WorkerProcess } from './worker-process.ts'

interface Stage {
  readonly desk: Desk
  readonly store: Store
  readonly session: SessionHandle
  readonly log: LogView
  readonly page: Page
  readonly words: Words
  readonly startWorker: (options: { readonly hold: boolean }) => WorkerProcess
}

/** Plays it all. `evidence` is filled on the way, so that a story that breaks off can still be judged. */
export async function play(stage: Stage, evidence: Evidence): Promise<void> {
  await setStage(stage)
  const first = await work(stage)
  await steer(stage, first)
  evidence.killed = await kill(stage, first)
  const second = await takeOver(stage, evidence)
  await followUp(stage)
  evidence.ended = await second.ended
  evidence.damage = await stage.store.verify(stage.session.id)
}

async function setStage({ desk, page, words }: Stage): Promise<void> {
  const { scene } = desk
  page.title()
  await page.act('stage')
  const rows = scene.files.map(({ name, bills, total }) => [
    `${scene.folder}/${name}`,
    words.bills(bills),
    money(total, scene),
  ])
  for (const row of alignFirst([...rows, [scene.bank, words.emptyRecord]])) await page.say('file', row)
  await page.say('store', words.sessionStore(desk.root))
}

async function work({ desk, session, log, page, words, startWorker }: Stage): Promise<WorkerProcess> {
  await page.act('work')
  await session.send(desk.scene.request)
  await page.say('you', desk.scene.request)
  const worker = startWorker({ hold: true })
  await page.say('store', words.starts(worker.pid))
  const isRead = (event: Event): boolean =>
    event.type === 'call.started' && event.call === callOf(log.events, 'read_file')
  await log.until('the first bills to be read', isRead)
  return worker
}

/** The process holds between the end of `read_file` and its record: what is posted now must be in the very next request. */
async function steer({ desk, session, log, page, words }: Stage, worker: WorkerProcess): Promise<void> {
  const { scene } = desk
  await page.act('steer')
  await session.steer(scene.steer)
  await page.say('steer', `${scene.steer}  (${words.durable})`)
  await session.send(scene.followup)
  await page.say('followup', `${scene.followup}  (${words.durable})`)
  await page.say('queue', words.waiting(await lanesOf(session)))
  worker.goOn()
  const steered = await log.until(
    'the steer to enter',
    (event) => event.type === 'input.entered' && event.lane === 'steer',
  )
  await log.until('the next model call', (event) => event.type === 'model.requested')
  await page.say('steer', words.entered)
  await page.say('queue', words.waiting(await lanesOf(session)))
  await log.until('the model to pay', (event) => event.seq > steered.seq && isReplyWith(event, 'pay'))
}

async function kill({ desk, store, log, page, words }: Stage, worker: WorkerProcess): Promise<Evidence['killed']> {
  const pay = callOf(log.events, 'pay')
  await log.until('the payment to start', (event) => event.type === 'call.started' && event.call === pay)
  await log.untilTrue('the order to be in the record of the bank', () => payments(desk).length > 0)
  await page.act('kill')
  await page.say('bank', `${payments(desk).join('\n')}  (${words.noAnswerYet})`)
  await page.say('store', await driverOf(store, words))
  worker.kill()
  const ended = await worker.ended
  await page.say('store', words.killed(worker.pid, ended.signal ?? String(ended.code)))
  if (!worker.isThere()) await page.say('store', words.gone(worker.pid))
  await page.say('store', await driverOf(store, words))
  return ended
}

async function takeOver(
  { desk, session, log, page, words, startWorker }: Stage,
  evidence: Evidence,
): Promise<WorkerProcess> {
  await page.act('takeover')
  const worker = startWorker({ hold: false })
  await page.say('store', words.starts(worker.pid))
  const pay = callOf(log.events, 'pay')
  await log.until('the open write to be settled', (event) => event.type === 'call.ended' && event.call === pay)
  const asked = await log.until('the model to be told', (event) => event.type === 'model.requested')
  const { messages } = await session.context({ turn: asked.turn, step: asked.step })
  const told = messages.findLast((message) => message.role === 'tool' && message.call === pay)
  if (told?.role === 'tool' && told.outcome === 'unknown') evidence.told = textOf(told.content)
  await page.say('told', evidence.told ?? '?')
  await log.until('the first turn to end', (event) => event.type === 'turn.ended')
  evidence.payments = payments(desk)
  await page.say('bank', `${evidence.payments.join('\n')}  (${words.payments(evidence.payments.length)})`)
  return worker
}

async function followUp({ desk, log, page }: Stage): Promise<void> {
  await page.act('followup')
  await page.say('followup', desk.scene.followup)
  await log.until('the second turn to end', (event) => event.type === 'turn.ended')
  await page.say('file', readIfThere(desk.report))
}

async function lanesOf(session: SessionHandle) {
  return (await session.queue.list()).map(({ lane }) => lane)
}

async function driverOf(store: Store, words: Words): Promise<string> {
  const [row] = await store.list()
  return row?.lease == null ? words.drivenByNobody : words.drivenBy(row.lease.owner)
}

function isReplyWith(event: Event, tool: string): boolean {
  return event.type === 'reply.completed' && event.calls.some(({ name }) => name === tool)
}
