import { describe, expect, it } from 'vitest'
import { agent, open, scriptedModel, type Session } from 'turnstep'
import { bankTools, type Bank } from './main.ts'

type Payment = Parameters<Bank['pay']>[0]

/** A bank in memory that writes down in which order it was asked. */
function memoryBank(): Bank & { readonly asked: string[]; readonly payments: Payment[] } {
  const asked: string[] = []
  const payments: Payment[] = []
  return {
    asked,
    payments,
    balance: async (account) => {
      asked.push(`balance ${account}`)
      return 1000 - payments.filter(({ from }) => from === account).reduce((sum, { amount }) => sum + amount, 0)
    },
    pay: async (payment) => {
      asked.push(`pay from ${payment.from}`)
      payments.push(payment)
    },
    find: async (reference) => payments.find((payment) => payment.reference === reference) ?? null,
  }
}

const call = (name: string, args: Record<string, string | number>) => ({ call: { name, args } })
const payRent = call('pay', { from: 'house', to: 'landlord', amount: 90 })

async function withBank(
  script: Parameters<typeof scriptedModel>[0],
  use: (session: Session, bank: ReturnType<typeof memoryBank>) => Promise<void>,
): Promise<void> {
  const bank = memoryBank()
  const model = scriptedModel(script)
  const session = await open(agent({ model, tools: bankTools(bank) }), { store: 'memory' })
  try {
    await use(session, bank)
    model.verify()
  } finally {
    await session.close()
  }
}

describe('examples/11-tools', () => {
  it('C6: a payment stands between the balances before and after it, another account does not wait', async () => {
    const script = [
      {
        emit: [
          call('balance', { account: 'house' }),
          payRent,
          call('balance', { account: 'house' }),
          call('balance', { account: 'car' }),
        ],
      },
      {
        expect: {
          outcomes: ['ok' as const, 'ok' as const, 'ok' as const, 'ok' as const],
          contains: ['house: 1000', 'house: 910'],
        },
        emit: [{ text: 'Done.' }],
      },
    ]
    await withBank(script, async (session, bank) => {
      const turn = await session.send('Pay the rent, and show the balances.')
      expect((await turn.outcome).kind).toBe('completed')
      const house = bank.asked.filter((what) => what.endsWith('house'))
      expect(house).toEqual(['balance house', 'pay from house', 'balance house'])
      expect(bank.asked.indexOf('balance car')).toBeLessThan(bank.asked.lastIndexOf('balance house'))
    })
  })

  it('A2: a large payment waits for a person and pays what was approved; the reference is the key of the call', async () => {
    const large = call('pay', { from: 'house', to: 'roofer', amount: 900 })
    const script = [{ emit: [large] }, { expect: { lastOutcome: 'ok' as const }, emit: [{ text: 'Paid.' }] }]
    await withBank(script, async (session, bank) => {
      const turn = await session.send('Pay the roofer.')
      const status = await session.settled()
      if (status.kind !== 'waiting') throw new Error(`it is ${status.kind}`)
      const [ask] = status.asks
      expect(ask).toMatchObject({ kind: 'approval', tool: 'pay', reason: 'Pay 900 to roofer?' })
      expect(bank.payments).toEqual([])
      await session.approve(ask!.call, { argsHash: ask!.argsHash! })
      expect((await turn.outcome).kind).toBe('completed')
      expect(bank.payments).toMatchObject([{ to: 'roofer', amount: 900, reference: `${session.id}/t1s1c1` }])
    })
  })

  it('A4: a deferred call waits for `answer`, and the same step goes on', async () => {
    const script = [
      { emit: [call('ask_boss', { question: 'Which roofer?' })] },
      { expect: { lastResult: 'The cheap one.' }, emit: [{ text: 'The cheap one it is.' }] },
    ]
    await withBank(script, async (session) => {
      const turn = await session.send('Ask the boss which roofer to take.')
      const status = await session.settled()
      if (status.kind !== 'waiting') throw new Error(`it is ${status.kind}`)
      expect(status.asks).toMatchObject([{ kind: 'deferred', reason: 'the boss: Which roofer?' }])
      await session.answer(status.asks[0]!.call, 'The cheap one.')
      expect((await turn.outcome).kind).toBe('completed')
    })
  })

  it('C4: reconcile finds a payment by its key, and says null where there is none', async () => {
    const bank = memoryBank()
    const pay = bankTools(bank).find(({ name }) => name === 'pay')!
    const context = { signal: new AbortController().signal } as never
    await bank.pay({ from: 'house', to: 'roofer', amount: 900, reference: 's/t1s1c1' })
    expect(await pay.reconcile!('s/t1s1c1', context)).toBe('Paid 900 to roofer, before the interruption.')
    expect(await pay.reconcile!('s/t1s1c2', context)).toBe(null)
  })
})
