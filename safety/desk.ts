/** The agent's side of a run: what every life of a scenario needs, over the public face of the product and its defaults. */
import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { agent, createHarness, tool } from 'turnstep'
import type { Event, Harness, Message, Model, Session, Tool } from 'turnstep'
import { faultsOf, toldUnknown } from './history.ts'
import type { Found, Job, Line } from './talk.ts'

const SESSION = 's'
export const INPUT = 'the-message'

/** The body goes on for a while after it was answered, as bodies do. */
const AFTER_PAYMENT_MS = 20

type Unsaid<L> = L extends unknown ? Omit<L, 't'> : never

/** Written before it returns: a kill loses none of it. */
export function say(line: Unsaid<Line>): void {
  writeSync(1, `${JSON.stringify({ ...line, t: performance.now() })}\n`)
}

/** Says what a model was given. */
export function sayRequest(history: readonly Message[]): void {
  say({ what: 'request', faults: faultsOf(history), unknown: toldUnknown(history) })
}

/** An open desk: the harness of this life. */
export interface Desk {
  readonly harness: Harness
  /** Opens a session, after it has said what its log holds. */
  open(parts: { readonly model: Model; readonly tools: readonly Tool[]; readonly session?: string }): Promise<Session>
}

export async function openDesk(job: Job): Promise<Desk> {
  const harness = await createHarness({ store: job.db })
  return {
    harness,
    async open({ model, tools, session = SESSION }) {
      say({ what: 'found', ...(await look(harness, session)) })
      return harness.open(agent({ model, tools }), { session })
    },
  }
}

/** What the log says before anybody drives the session. Reading writes nothing (L4). */
async function look(harness: Harness, session: string): Promise<Found> {
  const there = (await harness.list()).some((row) => row.session === session)
  if (!there) return { owed: [], decided: [] }
  const handle = await harness.attach(session)
  const events = await handle.history()
  await handle.close()
  return { owed: owedWrites(events), decided: callsOf(events, 'call.approval-decided') }
}

/** Writes that were started and whose end is not recorded. */
function owedWrites(events: readonly Event[]): string[] {
  const writes = new Set<string>(
    events.flatMap((event) =>
      event.type === 'reply.completed'
        ? event.calls.filter(({ effect }) => effect === 'write').map(({ id }) => id)
        : [],
    ),
  )
  const ended = callsOf(events, 'call.ended')
  return callsOf(events, 'call.started').filter((id) => writes.has(id) && !ended.includes(id))
}

function callsOf(events: readonly Event[], type: 'call.started' | 'call.ended' | 'call.approval-decided'): string[] {
  return events.flatMap((event) => (event.type === type ? [event.call] : []))
}

/** Says what the session has come to, once nothing is left to do here. */
export async function sayRest(session: Session): Promise<void> {
  const status = await session.settled()
  const events = await session.history()
  const turns = events.flatMap((event) => (event.type === 'turn.ended' ? [event.outcome.kind] : []))
  const entered = events.filter((event) => event.type === 'input.entered' && event.input === INPUT).length
  say({ what: 'rest', turns: status.kind === 'waiting' ? [...turns, 'waiting'] : turns, entered })
}

/** The session's user: sends the message if nobody told him yet that it was taken, under the id that it always has. */
export async function sendOnce(job: Job, session: Session, text: string): Promise<void> {
  say({ what: 'start' })
  if (!job.sends) return
  await session.send(text, { id: INPUT })
  say({ what: 'sent' })
}

/** The tools of a refund: it is paid at the ledger, which can be looked at. The refund's effect is the default one, `write`. */
export function refundTools({ ledger, effect }: Job, options: { readonly approval?: boolean } = {}): Tool[] {
  const fields = (...names: readonly string[]) => ({
    type: 'object' as const,
    properties: Object.fromEntries(names.map((name) => [name, { type: name === 'amount' ? 'number' : 'string' }])),
    required: [...names],
  })
  return [
    tool({
      name: 'refund',
      description: 'Refunds an order',
      input: fields('order', 'amount'),
      ...(effect === 'write' ? {} : { effect }),
      ...options,
      async run(args, { idempotencyKey }) {
        say({ what: 'body', tool: 'refund' })
        const { order, amount } = args as { readonly order: string; readonly amount: number }
        const query = `order=${order}&amount=${amount}&key=${encodeURIComponent(idempotencyKey)}`
        await (await fetch(`${ledger}/refunds?${query}`, { method: 'POST' })).text()
        await wait(AFTER_PAYMENT_MS)
        return `refunded ${order}`
      },
    }),
    tool({
      name: 'check',
      description: 'Looks an order up in the books',
      effect: 'read',
      input: fields('order'),
      async run(args) {
        const { order } = args as { readonly order: string }
        const rows = (await (await fetch(`${ledger}/refunds?order=${order}`)).json()) as unknown[]
        return rows.length > 0 ? 'found' : 'no refund of it'
      },
    }),
    tool({ name: 'note', description: 'Takes a note', effect: 'read', input: fields('text'), run: () => 'noted' }),
  ]
}

/** A tool that takes so long, and hears the abort or does not. */
export function slowTool(
  name: string,
  options: {
    readonly ms: (args: Readonly<Record<string, unknown>>) => number
    readonly hears?: boolean
    readonly effect?: 'read'
    readonly throws?: (args: Readonly<Record<string, unknown>>) => boolean
    readonly onBody?: (running: boolean) => void
  },
): Tool {
  return tool({
    name,
    description: `does ${name}`,
    input: { type: 'object' },
    ...(options.effect === undefined ? {} : { effect: options.effect }),
    async run(args, { signal }) {
      say({ what: 'body', tool: name })
      options.onBody?.(true)
      try {
        await wait(options.ms(args), undefined, options.hears === true ? { signal } : {})
      } finally {
        options.onBody?.(false)
      }
      if (options.throws?.(args) === true) throw new Error('boom')
      return `${name} done`
    },
  })
}
