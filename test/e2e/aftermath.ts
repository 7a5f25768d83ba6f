/**
 * What has to hold of a session after its drivers were killed, whenever that was: nothing lost, nothing doubled, nothing invented.
 * The one that goes on here uses the built package, like the workers that were killed.
 */
import { expect } from 'vitest'
import type { Event, EventOf, EventType } from '../../src/kernel/events.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import { inputId, sessionId } from '../../src/kernel/ids.ts'
import type { ReceiptState } from '../../src/kernel/input.ts'
import { Messages, textOf } from '../../src/kernel/message.ts'
import { TranscriptCheck } from '../../src/kernel/transcript.ts'
import type { createHarness } from '../../src/index.ts'
import type { AgentSpec } from '../../src/runtime/define/agent.ts'
import type { Harness } from '../../src/runtime/session/harness.ts'
import type { Store } from '../../src/runtime/ports.ts'
import type { Session } from '../../src/runtime/session.ts'
import { nodeClock, nodeIds } from '../../src/host/node.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Job, Scene } from './processes.ts'
import { SESSION } from './processes.ts'

interface Built {
  readonly createHarness: typeof createHarness
}

const built = async (): Promise<Built> => (await import('../../dist/index.js' as string)) as Built

/** The agent that the workers run, made in this process. */
export async function agentHere(
  scene: Scene,
  scenario: Job['scenario'],
  inBody?: (tool: string) => Promise<void>,
): Promise<AgentSpec> {
  const { agentFor } = (await import('./fixtures/scenarios.mjs' as string)) as {
    agentFor(scenario: string, options: object): AgentSpec
  }
  return agentFor(scenario, { ledger: scene.ledger, delayMs: 1, inBody })
}

export async function harnessHere(scene: Scene, options: { readonly pollMs?: number } = {}): Promise<Harness> {
  const { createHarness: create } = await built()
  return create({ store: scene.db, owner: 'the test', pollMs: 100, ...options })
}

/** Goes on in this process until the session rests. */
export async function goOnHere(scene: Scene, job: Pick<Job, 'scenario' | 'send'>): Promise<void> {
  const harness = await harnessHere(scene)
  try {
    const session = await harness.open(await agentHere(scene, job.scenario), { session: SESSION })
    if (job.send !== undefined) await session.send(job.send, { id: job.send })
    await session.settled()
  } finally {
    await harness.close()
  }
}

/** What stands in the file. */
export interface Log {
  readonly events: readonly Event[]
  readonly damage: unknown
  readonly receipts: Readonly<Record<string, ReceiptState | null>>
}

export async function withStore<T>(scene: Scene, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await sqliteStore({ path: scene.db, clock: nodeClock, ids: nodeIds })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

export function readLog(scene: Scene, inputs: readonly string[] = []): Promise<Log> {
  return withStore(scene, async (store) => {
    const id = sessionId(SESSION)
    const receipts: Record<string, ReceiptState | null> = {}
    for (const input of inputs) receipts[input] = await store.receipt(id, inputId(input))
    const { events } = await store.read(id)
    return { events, damage: await store.verify(id), receipts }
  })
}

export function eventsIn<Type extends EventType>({ events }: Pick<Log, 'events'>, type: Type): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type)
}

/** Writes that were started and whose end is not in the log: what a model has to be told is unknown. */
export function owedWrites(log: Pick<Log, 'events'>): string[] {
  const writes = new Set(
    eventsIn(log, 'reply.completed').flatMap((reply) =>
      reply.calls.filter((call) => call.effect === 'write').map((call) => call.id),
    ),
  )
  const ended = new Set(eventsIn(log, 'call.ended').map((end) => end.call))
  const started = eventsIn(log, 'call.started').map((start) => start.call)
  return started.filter((call) => writes.has(call) && !ended.has(call))
}

/** All that has to hold once the session rests. `owed`: writes that were owed when a driver was killed. */
export function proveWhole(scene: Scene, log: Log, owed: ReadonlySet<string>, where: string): void {
  expect(log.damage, `${where}: the log verifies`).toBeNull()
  const state = emptyState()
  for (const event of log.events) expect(fold(state, event), `${where}: event ${event.seq} folds`).toBeNull()
  expect(
    new TranscriptCheck().check(new Messages(state.context), state.context),
    `${where}: the context is legal`,
  ).toBeNull()
  for (const [input, receipt] of Object.entries(log.receipts)) {
    expect(receipt, `${where}: ${input} is settled`).toMatchObject({ kind: 'entered' })
    expect(
      eventsIn(log, 'input.entered').filter((event) => event.input === input),
      `${where}: ${input} entered once`,
    ).toHaveLength(1)
  }
  const turns = Object.values(log.receipts).map((receipt) => (receipt?.kind === 'entered' ? receipt.turn : 0))
  const numbers = Array.from({ length: Math.max(1, ...turns) }, (_, at) => at + 1)
  expect(
    eventsIn(log, 'turn.started').map((start) => start.turn),
    `${where}: no turn but those of the inputs`,
  ).toEqual(numbers)
  expect(
    eventsIn(log, 'turn.ended').map((end) => [end.turn, end.outcome.kind]),
    `${where}: each completes`,
  ).toEqual(numbers.map((turn) => [turn, 'completed']))
  proveCalls(scene, log, owed, where)
  const told = state.context.flatMap((message) =>
    message.role === 'tool' && textOf(message.content).startsWith('Outcome unknown') ? [message.call] : [],
  )
  expect(told.toSorted(), `${where}: the model is told of what is unknown, and of nothing else`).toEqual(
    [...owed].toSorted(),
  )
}

function proveCalls(scene: Scene, log: Log, owed: ReadonlySet<string>, where: string): void {
  const calls = eventsIn(log, 'reply.completed').flatMap((reply) => [...reply.calls])
  const ends = eventsIn(log, 'call.ended')
  expect(ends.map((end) => end.call).toSorted(), `${where}: each call ends once`).toEqual(
    calls.map((call) => call.id).toSorted(),
  )
  const effects = scene.effects()
  for (const { id, effect } of calls) {
    const lines = effects.filter((line) => line.call === id)
    const outcome = ends.find((end) => end.call === id)!.outcome.kind
    if (effect === 'write')
      expect(lines.length, `${where}: the write ${id} has one effect at most`).toBeLessThanOrEqual(1)
    expect(new Set(lines.map((line) => line.key)).size, `${where}: ${id} has one key`).toBeLessThanOrEqual(1)
    expect(outcome, `${where}: ${id}`).toBe(owed.has(id) ? 'unknown' : 'ok')
    if (outcome === 'ok') expect(lines.length, `${where}: ${id} had its effect`).toBeGreaterThanOrEqual(1)
  }
  expect(
    effects.filter((line) => !calls.some((call) => call.id === line.call)),
    `${where}: no effect without a call`,
  ).toEqual([])
}

export async function proveIdle(session: Session): Promise<void> {
  expect((await session.status()).kind).toBe('idle')
}
