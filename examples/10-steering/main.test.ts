import { describe, expect, it } from 'vitest'
import { open, scriptedModel, type Session } from 'turnstep'
import { bookkeeper, changeTheQueue, slowBills, steerAndQueue, stopAndGoOn } from './main.ts'

const readBill = (month: string) => ({ call: { name: 'read_bill', args: { month } } })

async function withSession(
  script: Parameters<typeof scriptedModel>[0],
  use: (session: Session, arrive: () => void) => Promise<void>,
): Promise<void> {
  const bills = slowBills()
  const model = scriptedModel(script)
  const session = await open(bookkeeper(model, bills.readBill), { store: 'memory' })
  try {
    await use(session, bills.arrive)
    model.verify()
  } finally {
    await session.close()
  }
}

describe('examples/10-steering', () => {
  it('I4: a steer waits for the call that is open and is in the next request; a followup starts the next turn', async () => {
    const script = [
      { emit: [readBill('April')] },
      {
        expect: { lastUser: /^\[Correction from the user.*\] Only May and June, please\.$/, outcomes: ['ok' as const] },
        emit: [{ text: 'May and June, then: 497.80.' }],
      },
      { expect: { lastUser: 'Then write it to report.md.' }, emit: [{ text: 'Written.' }] },
    ]
    await withSession(script, async (session, arrive) => {
      expect(await steerAndQueue(session, arrive)).toEqual({
        first: { kind: 'queued' },
        outcome: { kind: 'completed', goal: 'unchecked' },
        entered: { kind: 'entered', turn: 1, step: 2 },
        report: { kind: 'completed', goal: 'unchecked' },
      })
    })
  })

  it('I7: the queue is listed, edited, reordered, converted and withdrawn from while a turn runs', async () => {
    const script = [
      { emit: [readBill('April')] },
      { expect: { lastUser: 'Then the insurance.' }, emit: [{ text: 'Insured.' }] },
      { expect: { lastUser: 'First the rent, in cash.' }, emit: [{ text: 'Paid.' }] },
    ]
    await withSession(script, async (session, arrive) => {
      const turn = await session.send('Read the bill of April.')
      for await (const event of turn.events) if (event.type === 'call.started') break
      const left = await changeTheQueue(session)
      expect(left.map(({ id, lane }) => [id, lane])).toEqual([
        ['insurance', 'steer'],
        ['rent', 'followup'],
      ])
      arrive()
      expect((await session.settled()).kind).toBe('idle')
    })
  })

  it('I9: after an abort the queue is held until resume', async () => {
    const script = [
      { emit: [readBill('April')] },
      { expect: { lastUser: 'Then the bill of May.' }, emit: [{ text: 'Fine.' }] },
    ]
    await withSession(script, async (session) => {
      const aborted = { kind: 'aborted', reason: 'wrong year' }
      expect(await stopAndGoOn(session)).toEqual({
        outcome: { ...aborted, goal: 'unchecked' },
        held: { kind: 'held', outcome: aborted },
      })
    })
  })
})
