import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agent, open, scriptedModel, type AgentSpec, type Plugin, type Session } from 'turnstep'
import { noKeys, spending, tokenBound } from './main.ts'

async function withAgent(spec: AgentSpec, use: (session: Session) => Promise<void>, store = 'memory'): Promise<void> {
  const session = await open(agent(spec), { session: 's', store })
  try {
    await use(session)
  } finally {
    await session.close()
  }
}

const outcomeOf = async (session: Session, text: string) => (await session.send(text)).outcome

describe('examples/13-plugin-state', () => {
  it('I8: a message is rejected alone, with its reason; its neighbours enter', async () => {
    const model = scriptedModel([
      { expect: { contains: ['Add up', 'Only May'], absent: ['sk-'], messages: 2 }, emit: [{ text: 'Done.' }] },
    ])
    await withAgent({ model, plugins: [noKeys] }, async (session) => {
      const note = await session.note('My key is sk-1234567890.')
      await session.note('Only May and June.')
      expect((await outcomeOf(session, 'Add up the bills.')).kind).toBe('completed')
      expect(await note.state()).toEqual({ kind: 'rejected', reason: 'there is a key in it' })
      model.verify()
    })
  })

  it('T11: the step after the bound is refused, and others can ask how much was spent', async () => {
    const seen: number[] = []
    const watcher: Plugin = {
      name: 'watcher',
      setup(scope) {
        scope.on('onEvent', (event, { session }) => {
          if (event.type === 'turn.ended') seen.push(scope.use(spending).of(session))
        })
      },
    }
    const model = scriptedModel([{ emit: [{ text: 'One.' }], usage: { input: 900, output: 200 } }])
    await withAgent({ model, plugins: [tokenBound(1000), watcher] }, async (session) => {
      expect((await outcomeOf(session, 'Go.')).kind).toBe('completed')
      const refused = await outcomeOf(session, 'More.')
      expect(refused).toMatchObject({ kind: 'blocked', reason: '1100 of 1000 tokens are spent' })
      expect(seen).toEqual([1100, 1100])
    })
  })

  it('what a plugin has folded is there again when the session is opened again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnstep-example-'))
    const store = join(folder, 'sessions.db')
    const model = scriptedModel([{ emit: [{ text: 'One.' }], usage: { input: 900, output: 200 } }])
    const spec = { model, plugins: [tokenBound(1000)] }
    await withAgent(spec, async (session) => void (await outcomeOf(session, 'Go.')), store)
    await withAgent(spec, async (session) => expect((await outcomeOf(session, 'More.')).kind).toBe('blocked'), store)
    rmSync(folder, { recursive: true })
  })
})
