import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { useWorlds } from '../../../test/kit/world.ts'
import type { Event } from '../../kernel/events.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { agent } from '../define/agent.ts'
import { tool } from '../define/define-tool.ts'
import type { CallDecision, Plugin } from '../define/plugin.ts'
import type { Session } from '../session.ts'
import type { Tool, ToolDefinition } from '../define/tool.ts'

const worldOf = useWorlds()

/** Calls `name` with these arguments after each message of the user, then talks. */
const calling = (name: string, args: { readonly [key: string]: string } = {}): ReturnType<typeof scriptedModel> =>
  scriptedModel(({ messages }) => ({
    emit: messages.at(-1)!.role === 'user' ? [{ call: { name, args } }] : [{ text: 'ok' }],
  }))
const deciding = (name: string, decide: () => CallDecision | undefined): Plugin => ({
  name,
  setup: (scope) => scope.on('decideCall', decide),
})
const endsOf = async (session: Session): Promise<Event[]> =>
  (await session.history()).filter((event) => event.type === 'call.ended')

/** A tool whose schema checks as it is told. */
function checked(validate: StandardSchemaV1.Props['validate']): { readonly tool: Tool; readonly runs: unknown[] } {
  const runs: unknown[] = []
  const props = {
    version: 1,
    vendor: 'test',
    validate,
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  } as StandardSchemaV1.Props & StandardJSONSchemaV1.Props
  const input = { '~standard': props } as unknown as ToolDefinition<unknown>['input']
  return { tool: tool({ name: 'look', description: 'looks', input, run: (args) => (runs.push(args), 'seen') }), runs }
}

describe('a schema whose check never settles', () => {
  const hanging = (): ReturnType<typeof checked> => checked(() => new Promise<never>(() => {}))

  it('T7: does not hold up an abort', async () => {
    const world = worldOf()
    const { tool: look, runs } = hanging()
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    const turn = await session.send('go')
    await world.settle()
    const before = world.clock.now()
    await session.abort()
    expect(await turn.outcome).toMatchObject({ kind: 'aborted' })
    expect([world.clock.now(), runs]).toEqual([before, []])
    expect(await endsOf(session)).toMatchObject([{ outcome: { kind: 'not-started', reason: 'aborted' } }])
  })

  it('W5: nor the closing of its session', async () => {
    const world = worldOf()
    const { tool: look } = hanging()
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    await session.send('go')
    await world.settle()
    await world.within(session.close(), 10_000)
    expect(await world.store.list()).toMatchObject([{ lease: null }])
  })

  it('C8: gives the call up in time, and the turn goes on', async () => {
    const world = worldOf()
    const { tool: look, runs } = hanging()
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    const turn = await session.send('go')
    expect(await world.within(turn.outcome, 60_000)).toMatchObject({ kind: 'completed' })
    expect(await endsOf(session)).toMatchObject([{ outcome: { kind: 'invalid', problem: 'schema' } }])
    expect(runs).toEqual([])
  })
})

describe('a check of arguments', () => {
  const boom = (): never => {
    throw new Error('the schema broke')
  }

  it.each([
    ['throws', boom],
    ['rejects', async () => boom()],
  ])('C8: that %s makes the call invalid, and no more', async (_how, validate) => {
    const world = worldOf()
    const { tool: look, runs } = checked(validate)
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    expect(await world.within((await session.send('go')).outcome)).toMatchObject({ kind: 'completed' })
    const [end] = await endsOf(session)
    expect(end).toMatchObject({ outcome: { kind: 'invalid', problem: 'schema' } })
    expect(JSON.stringify(end)).toContain('the schema broke')
    expect(runs).toEqual([])
  })

  it('C8: so does a tool of another make whose `validate` throws', async () => {
    const world = worldOf()
    const look: Tool = { ...new Tools().add('look', { kind: 'returns', text: 'seen' }), validate: boom }
    const session = await world.start().open(agent({ model: calling('look'), tools: [look] }))
    expect(await world.within((await session.send('go')).outcome)).toMatchObject({ kind: 'completed' })
    expect(await endsOf(session)).toMatchObject([{ outcome: { kind: 'invalid', problem: 'schema' } }])
  })
})

describe('arguments that one plugin rewrote', () => {
  const rewrites = deciding('rewrites', () => ({ kind: 'allow', args: { path: 'safe/a' } }))
  const asks = deciding('asks', () => ({ kind: 'ask', reason: 'really?' }))

  it.each([
    ['after', [rewrites, asks]],
    ['before', [asks, rewrites]],
  ])('A1 A2: are what is asked about and what runs, when another asks %s it', async (_when, plugins) => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('save', { kind: 'returns', text: 'saved' }, { effect: 'write', needs: 'path' })
    const session = await world
      .start({ plugins })
      .open(agent({ model: calling('save', { path: 'a' }), tools: tools.all }))
    await session.send('go')
    expect(await world.within(session.settled())).toMatchObject({
      kind: 'waiting',
      asks: [{ call: 't1s1c1', args: { path: 'safe/a' }, reason: 'really?' }],
    })
    expect(tools.runs).toEqual([])
    await session.approve('t1s1c1')
    await world.within(session.settled())
    expect(tools.runs.map((run) => run.args)).toEqual([{ path: 'safe/a' }])
  })

  it('A1: run nowhere when another denies', async () => {
    const world = worldOf()
    const tools = new Tools()
    tools.add('save', { kind: 'returns', text: 'saved' }, { effect: 'write', needs: 'path' })
    const plugins = [rewrites, deciding('denies', () => ({ kind: 'deny', reason: 'not there' }))]
    const session = await world
      .start({ plugins })
      .open(agent({ model: calling('save', { path: 'a' }), tools: tools.all }))
    await world.within((await session.send('go')).outcome)
    expect(await endsOf(session)).toMatchObject([{ outcome: { kind: 'denied', by: 'policy', reason: 'not there' } }])
    expect(tools.runs).toEqual([])
  })
})

describe('a grant for the session', () => {
  it('A2: also silences a plugin that asks, with the arguments that it put in place; not one that denies', async () => {
    const world = worldOf()
    let decision: CallDecision = { kind: 'ask', reason: 'really?' }
    const tools = new Tools()
    tools.add('save', { kind: 'returns', text: 'saved' }, { effect: 'write', guard: 'off' })
    const plugins = [deciding('policy', () => decision)]
    const session = await world.start({ plugins }).open(agent({ model: calling('save'), tools: tools.all }))
    await session.send('one')
    expect(await world.within(session.settled())).toMatchObject({ kind: 'waiting' })
    await session.approve('t1s1c1', { always: true })
    await world.within(session.settled())
    for (const given of [decision, { ...decision, args: { path: 'safe/a' } }]) {
      decision = given
      expect(await world.within((await session.send('again')).outcome)).toMatchObject({ kind: 'completed' })
    }
    expect(tools.runs.map((run) => run.args)).toEqual([{}, {}, { path: 'safe/a' }])
    expect((await session.history()).filter((event) => event.type === 'call.approval-asked')).toHaveLength(1)
    decision = { kind: 'deny', reason: 'not any more' }
    await world.within((await session.send('and again')).outcome)
    expect((await endsOf(session)).at(-1)).toMatchObject({ outcome: { kind: 'denied', by: 'policy' } })
    expect(tools.runs).toHaveLength(3)
  })
})
