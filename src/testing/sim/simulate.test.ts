import { describe, expect, it } from 'vitest'
import { agent, type AgentSpec } from '../../runtime/define/agent.ts'
import { tool } from '../../runtime/define/define-tool.ts'
import type { Plugin } from '../../runtime/define/plugin.ts'
import type { ToolContext } from '../../runtime/define/tool.ts'
import type { Model } from '../../runtime/ports.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
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
    // It is no number that is compared with: not one seed would run.
    [{ seeds: null as never }, 'seeds is null; give a whole number'],
    [{ failuresMax: null as never }, 'failuresMax is null'],
    [{ from: 2.5 }, 'from is 2.5'],
    [{ shrink: 'no' as never }, 'shrink is "no"; give true or false'],
    [{ store: {} as never }, 'store is {}; give a function'],
    [{ without: 'kill' as never }, 'without is "kill"; give a list'],
    [{ agent: undefined }, 'an agent is undefined; give'],
    [{ agent: { model: 'provider/name', tolls: [] } }, 'agent has no "tolls"'],
    [{ seeds: Infinity }, 'seeds is Infinity'],
    [{ sedes: 5 } as object, 'no "sedes"; known: agent, store, seeds'],
  ])('refuses %j: what checks nothing must not look sound', async (options, says) => {
    await expect(simulate({ agent: looker, ...options })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(says),
    })
  })
})

describe('what is still at work when a life is over', () => {
  const never = (): Promise<never> => new Promise(() => {})
  const waiter = (run: (context: ToolContext) => Promise<string>): AgentSpec => {
    const wait = tool({
      name: 'wait',
      description: 'waits',
      effect: 'read',
      input: { type: 'object', properties: {} },
      timeoutMs: 1_000,
      run: (_args, context) => run(context),
    })
    return agent({ model: 'provider/name', tools: [wait] })
  }
  const later = ({ clock }: ToolContext, ms: number): Promise<string> =>
    new Promise((resolve) => void clock.after(ms, () => resolve('done')))

  it('C13: a tool that never ends is a failure, and a small one', async () => {
    const { failures } = await simulate({ agent: waiter(never), seeds: 10, failuresMax: 1 })
    expect(failures).toMatchObject([
      {
        rule: 'still running',
        message: expect.stringMatching(/^tool wait t\d+s\d+c\d+ in p\d+ is still at work 10 min/),
      },
    ])
    const { scenario, story } = failures[0]!
    expect(scenario.moves.length).toBeLessThan(5)
    expect(story).toContain('! still running')
    expect(await replay(scenario, { agent: waiter(never) })).toMatchObject([{ rule: 'still running' }])
  })

  it.each([
    ['obeys its signal', ({ signal }: ToolContext) => heard(signal)],
    ['ends long after its time is over', (context: ToolContext) => later(context, 300_000)],
  ])('a tool that %s is none', async (_how, run) => {
    const { failures } = await simulate({ agent: waiter(run), seeds: 20, shrink: false })
    expect(failures).toEqual([])
  })

  it('a hook that never answers is one', async () => {
    const silent: Plugin = { name: 'silent', setup: (scope) => scope.on('decideStop', never) }
    const hooked = agent({ model: 'provider/name', plugins: [silent] })
    const byHook = await simulate({ agent: hooked, seeds: 10, failuresMax: 1, shrink: false })
    expect(byHook.failures).toMatchObject([
      { rule: 'still running', message: expect.stringContaining('hook decideStop of silent in p') },
    ])
  })

  it('T7: a model that never ends is one, though the turn was aborted; if it is waited for, it is named', async () => {
    const abort: SimMove = [3, 'abort', { id: 'x1', pending: 'keep' }]
    const of = (moves: readonly SimMove[]) => replay({ rule: '', moves, decisions: [] }, { agent: onceSilent })
    expect(await of([START, SEND, abort, [4, 'wait', 20_000]])).toMatchObject([
      { rule: 'still running', message: expect.stringContaining('model script in p1') },
    ])
    expect(await of([])).toMatchObject([
      { rule: 'W3', message: expect.stringMatching(/not come to rest.*; still at work: model script in p1$/) },
    ])
  })

  const heard = (signal: AbortSignal): Promise<string> =>
    new Promise((resolve) => {
      if (signal.aborted) resolve('stopped')
      signal.addEventListener('abort', () => resolve('stopped'), { once: true })
    })

  /** Its first answer breaks off without an end; it answers whoever asks again. */
  function onceSilent(): AgentSpec {
    let asked = 0
    const good = scriptedModel(() => ({ emit: [{ text: 'ok' }] }))
    const stream: Model['stream'] = (request, signal) =>
      ++asked > 1 ? good.stream(request, signal) : { [Symbol.asyncIterator]: () => ({ next: never }) }
    return agent({ model: { ...good, stream } })
  }
})

describe('replay', () => {
  it('refuses what it does not know', async () => {
    const calm = { rule: '', moves: [], decisions: [] }
    await expect(replay(calm, { agent: looker, sotre: 1 } as { agent: AgentSpec })).rejects.toMatchObject({
      code: 'config-invalid',
      message: 'replay has no "sotre"; known: agent, store',
    })
  })

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

  it.each([null, [], { moves: [] }])('refuses %j, which is no scenario', async (scenario) => {
    await expect(replay(scenario as never, { agent: looker })).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('the scenario is'),
    })
  })

  it('refuses a move that nobody knows', async () => {
    const moves = [[1, 'explode', {}]] as const
    await expect(replay({ rule: '', moves, decisions: [] }, { agent: looker })).rejects.toMatchObject({
      code: 'usage-invalid',
      message: expect.stringContaining('"explode"; known: wait, send'),
    })
  })
})
