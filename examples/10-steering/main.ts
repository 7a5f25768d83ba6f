/**
 * A user talks to an agent that is at work: corrects it, queues what comes next, changes the queue, stops it.
 * The model is a script, so that it runs without a key; put `provider/model` in its place.
 */
import { agent, tool, type Model, type Session, type Turn } from 'turnstep'

/** Bills come from a slow place: each waits until `arrive` is called. */
export function slowBills() {
  const waiting: (() => void)[] = []
  const readBill = tool<{ readonly month: string }>({
    name: 'read_bill',
    description: 'The bill of one month',
    effect: 'read',
    input: { type: 'object', properties: { month: { type: 'string' } }, required: ['month'] },
    run: async ({ month }, { signal }) => {
      await new Promise<void>((resolve, reject) => {
        waiting.push(resolve)
        signal.addEventListener('abort', () => reject(new Error('stopped')))
      })
      return `${month}: 248.90`
    },
  })
  return { readBill, arrive: () => waiting.shift()?.() }
}

export function bookkeeper(model: Model, readBill: ReturnType<typeof slowBills>['readBill']) {
  return agent({ model, instructions: 'You keep the books.', tools: [readBill] })
}

/** Resolves once a tool is at work in this turn. */
export async function untilCallStarts(turn: Turn): Promise<void> {
  for await (const event of turn.events) if (event.type === 'call.started') return
}

export async function steerAndQueue(session: Session, arrive: () => void) {
  const turn = await session.send('Add up the bills of April, May and June.')
  await untilCallStarts(turn)

  const steer = await session.steer('Only May and June, please.')
  const next = await session.send('Then write it to report.md.')
  const first = await steer.state() // { kind: 'queued' }: a call is open, nothing may stand between it and its result
  arrive()

  const outcome = await turn.outcome // { kind: 'completed', goal: 'unchecked' }
  const entered = await steer.settled // { kind: 'entered', turn: 1, step: 2 }
  const report = await next.outcome
  return { first, outcome, entered, report }
}

export async function changeTheQueue(session: Session) {
  const { queue } = session
  await session.send('First the rent.', { id: 'rent' })
  await session.send('Then the insurance.', { id: 'insurance' })
  await session.send('And the gym.', { id: 'gym' })

  await queue.edit('rent', 'First the rent, in cash.')
  await queue.move('insurance', { before: 'rent' })
  await queue.withdraw('gym')
  await queue.convert('insurance', 'steer')
  return queue.list()
}

export async function stopAndGoOn(session: Session) {
  const turn = await session.send('Read the bill of April.')
  await untilCallStarts(turn)
  const next = await session.send('Then the bill of May.')

  await session.abort({ reason: 'wrong year' })
  const outcome = await turn.outcome // { kind: 'aborted', reason: 'wrong year', goal: 'unchecked' }
  const held = await session.settled() // { kind: 'held', outcome }: what is queued waits

  await session.resume()
  await next.outcome
  return { outcome, held }
}
