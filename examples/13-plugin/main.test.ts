import { describe, expect, it } from 'vitest'
import { agent, open, scriptedModel, tool, type AgentSpec, type Plugin, type Session } from '../../src/index.ts'
import { namesItsSource, onlyInside, spending, tokenBound } from './main.ts'

const sendMail = tool({
  name: 'send_mail',
  description: 'Send a mail',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  run: ({ to }) => `Sent to ${JSON.stringify(to)}.`,
})

async function withAgent(spec: AgentSpec, use: (session: Session) => Promise<void>): Promise<void> {
  const session = await open(agent(spec), { store: 'memory' })
  try {
    await use(session)
  } finally {
    await session.close()
  }
}

describe('examples/13-plugin', () => {
  it('A1: one deny is enough; the call next to it runs', async () => {
    const mail = (to: string) => ({ call: { name: 'send_mail', args: { to } } })
    const model = scriptedModel([
      { emit: [mail('ann@example.com'), mail('bob@elsewhere.org')] },
      {
        expect: {
          system: 'example.com only',
          outcomes: ['ok', 'denied'],
          contains: ['"bob@elsewhere.org" is outside'],
        },
        emit: [{ text: 'Ann has it.' }],
      },
    ])
    await withAgent({ model, tools: [sendMail], plugins: [onlyInside] }, async (session) => {
      const turn = await session.send('Mail it to Ann and Bob.')
      expect((await turn.outcome).kind).toBe('completed')
      model.verify()
    })
  })

  it('T11: the step after the bound is refused, and others can ask how much was spent', async () => {
    const usage = { input: 900, output: 200 }
    const seen: number[] = []
    const watcher: Plugin = {
      name: 'watcher',
      setup: (scope) =>
        scope.on(
          'onEvent',
          (event, { session }) => void (event.type === 'turn.ended' && seen.push(scope.use(spending).of(session))),
        ),
    }
    const model = scriptedModel([{ emit: [{ text: 'One.' }], usage }])
    await withAgent({ model, plugins: [tokenBound(1000), watcher] }, async (session) => {
      expect((await (await session.send('Go.')).outcome).kind).toBe('completed')
      const refused = await (await session.send('More.')).outcome
      expect(refused).toMatchObject({ kind: 'blocked', reason: '1100 of 1000 tokens are spent' })
      expect(seen).toEqual([1100, 1100])
    })
  })

  it('T5: a veto sends the model back, and the goal is met in the end', async () => {
    const model = scriptedModel([
      { emit: [{ text: 'It is 25 °C.' }] },
      { expect: { lastUser: 'Name your source' }, emit: [{ text: 'It is 25 °C.\nSource: the weather service' }] },
    ])
    await withAgent({ model, plugins: [namesItsSource] }, async (session) => {
      expect(await (await session.send('How warm is it?')).outcome).toEqual({ kind: 'completed', goal: 'met' })
      model.verify()
    })
  })
})
