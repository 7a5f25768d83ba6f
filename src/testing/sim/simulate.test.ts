import { describe, expect, it } from 'vitest'
import { agent, type AgentSpec } from '../../runtime/define/agent.ts'
import { tool } from '../../runtime/define/define-tool.ts'
import type { SimMove, SimWorld } from './sim.ts'
import { replay, simulate } from './simulate.ts'

const look = tool({
  name: 'look',
  description: 'looks',
  effect: 'read',
  input: { type: 'object', properties: { at: { enum: ['sky', 'sea'] } }, required: ['at'] },
  run: ({ at }) => `the ${JSON.stringify(at)}`,
})
const looker: AgentSpec = agent({ model: 'provider/name', tools: [look] })

const START: SimMove = [1, 'start', { process: 1 }]
const SEND: SimMove = [2, 'send', { id: 'f1' }]

describe('simulate', () => {
  it('runs an agent as it is, its model replaced, and counts what happened', async () => {
    const report = await simulate({ agent: looker, seeds: 3 })
    expect(report).toMatchObject({ seeds: 3, failures: [] })
    expect(report.events).toBeGreaterThan(100)
  })

  it('makes the agent anew for each life, and shows a check everything', async () => {
    const heard = { lives: 0, events: 0, bodies: 0, requests: 0, moments: 0, ends: 0 }
    const watched = (world: SimWorld): AgentSpec => {
      heard.lives++
      world.check({
        name: 'counts',
        event: () => void heard.events++,
        body: ({ args }) => {
          heard.bodies++
          expect(['sky', 'sea']).toContain(args['at'])
        },
        request: () => void heard.requests++,
        moment: () => void heard.moments++,
        end: () => void heard.ends++,
      })
      return looker
    }
    const { events, failures } = await simulate({ agent: watched, seeds: 4 })
    expect(failures).toEqual([])
    expect(heard.events).toBe(events)
    expect(Math.min(heard.lives, heard.bodies, heard.requests, heard.moments, heard.ends)).toBeGreaterThan(3)
  })

  it('a check that throws is a failure under its name', async () => {
    const strict = (world: SimWorld): AgentSpec => {
      world.check({ name: 'no turns', event: (event) => expect(event.type).not.toBe('turn.started') })
      return looker
    }
    const { failures } = await simulate({ agent: strict, seeds: 10 })
    expect(failures).toHaveLength(3)
    expect(failures[0]).toMatchObject({ seed: 1, rule: 'no turns', scenario: { rule: 'no turns' } })
    expect(failures[0]!.scenario.moves.length).toBeLessThanOrEqual(2)
  })

  it('draws actions of the user, and the arguments that the user draws', async () => {
    const rung: unknown[] = []
    const ringing = (world: SimWorld): AgentSpec => {
      world.action({
        name: 'ring',
        weight: 20,
        propose: (_stage, chance) => ({ times: chance.below(3) }),
        perform: (_stage, params) => void rung.push(params),
      })
      world.args('look', () => ({ at: 'sky' }))
      world.check({
        name: 'sky',
        body: ({ args }, seen) => {
          if (args['at'] !== 'sky') seen.fail('sky', JSON.stringify(args))
        },
      })
      return looker
    }
    expect((await simulate({ agent: ringing, seeds: 3 })).failures).toEqual([])
    expect(rung.length).toBeGreaterThan(3)
  })

  it('leaves out what it is told to, and says what there is', async () => {
    const calm = (world: SimWorld): AgentSpec => {
      world.check({
        name: 'no aborts',
        event: (event, seen) => {
          if (event.type === 'turn.abort-asked') seen.fail('no aborts', 'an abort')
        },
      })
      return looker
    }
    expect((await simulate({ agent: calm, seeds: 5, without: ['abort', 'hooks', 'store', 'sync'] })).failures).toEqual(
      [],
    )
    await expect(simulate({ agent: looker, without: ['abrot'] })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('"abrot"; known: send, steer'),
    })
  })

  it.each([
    [{ seeds: 0 }, 'seeds is 0'],
    [{ seeds: Number.NaN }, 'seeds is NaN'],
    [{ seeds: 2.5 }, 'seeds is 2.5'],
    [{ from: -1 }, 'from is -1'],
    [{ moves: '80' as never }, 'moves is "80"'],
    [{ failuresMax: 0 }, 'failuresMax is 0'],
    [{ sedes: 5 } as object, 'no "sedes"; known: agent, seeds'],
  ])('refuses %j: what checks nothing must not look sound', async (options, says) => {
    await expect(simulate({ agent: looker, ...options })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(says),
    })
  })
})

describe('replay', () => {
  it('plays what is written, and nothing else', async () => {
    const types: string[] = []
    const told = (world: SimWorld): AgentSpec => {
      world.check({ name: 'tells', event: (event) => void types.push(event.type) })
      return looker
    }
    const calls = { emit: [{ call: { name: 'look', args: { at: 'sea' } } }] }
    const decisions = [[2, 'model', calls]] as const
    expect(await replay({ rule: '', moves: [START, SEND], decisions }, { agent: told })).toEqual([])
    expect(types.filter((type) => type === 'call.ended')).toHaveLength(1)
  })

  it('refuses a move that nobody knows', async () => {
    const moves = [[1, 'explode', {}]] as const
    await expect(replay({ rule: '', moves, decisions: [] }, { agent: looker })).rejects.toMatchObject({
      code: 'usage-invalid',
      message: expect.stringContaining('"explode"; known: wait, send'),
    })
  })
})
