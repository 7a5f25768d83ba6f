/**
 * Faults that are planted where users write code: in a store, a loop, a tool, a plugin. Those of the kernel and the runner are planted by
 * `npm run mutants`.
 */
import type { Acquired, Clock, Loop, Store } from '../../src/index.ts'
import { react } from '../../src/plugins/react/react.ts'
import { agent, type AgentSpec } from '../../src/runtime/define/agent.ts'
import { tool } from '../../src/runtime/define/define-tool.ts'
import type { Plugin } from '../../src/runtime/define/plugin.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import type { SimulateOptions, SimWorld } from '../../src/testing/sim/sim.ts'
import { simulatedAgent } from './agent.ts'

/** A fault, and the rule that it breaks. */
export interface Planted {
  readonly rule: string
  readonly options: Pick<SimulateOptions, 'agent' | 'store'>
}

/** A store like the one in memory, but for some of its verbs. */
function storeBut(change: (store: Store) => Partial<Store>): (clock: Clock) => Store {
  return (clock) => {
    const store = memoryStore({ clock })
    const changed = change(store)
    return new Proxy(store, {
      get(target, key) {
        const value = (changed[key as keyof Store] ?? target[key as keyof Store]) as unknown
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
}

/** The react loop, but for some of its choices. */
function loopBut(change: (...view: Parameters<Loop['next']>) => ReturnType<Loop['next']> | null) {
  const loop: Loop = { name: 'broken', next: (view) => change(view) ?? react.next(view) }
  return (world: SimWorld): AgentSpec => agent({ ...simulatedAgent(world), loop })
}

/** It asks for nothing to be pending, and does not hear the answer. */
const overlooksSteers = storeBut((store) => ({
  append: ({ unlessPending: _ignored, ...append }) => store.append(append),
}))

/** The same id is another input the second time. */
const forgetsIds = storeBut((store) => {
  let times = 0
  return {
    put: async (session, input, options) => {
      const posted = await store.put(session, input, options)
      if (posted.kind !== 'duplicate' || posted.state.kind === 'queued') return posted
      return store.put(session, { ...input, id: `${input.id} again ${++times}` as typeof input.id }, options)
    },
  }
})

/** Nobody is told that it is busy. */
const givesLeasesAway = storeBut((store) => {
  let last: Acquired | null = null
  return {
    acquire: async (session, options) => {
      const acquired = await store.acquire(session, options)
      if (acquired.kind === 'acquired') last = acquired
      return acquired.kind === 'busy' && last !== null ? last : acquired
    },
  }
})

/** What waits starts, whatever happened before. */
const startsByItself = loopBut(({ state, inbox }) =>
  state.turn === null && inbox.control === 0 && inbox.followup > 0 ? { kind: 'begin', trigger: 'input' } : null,
)

/** It lets bodies finish, however long that takes. */
const ignoresAborts = loopBut(({ state, live, now }) =>
  state.turn?.abort != null && state.step?.calls.some(({ record }) => live.has(record.id)) === true
    ? { kind: 'wait', until: now + 60_000 }
    : null,
)

/** Its tool may run again under the same key, and pays again. */
function paysTwice(world: SimWorld): AgentSpec {
  const paid: string[] = []
  world.check({
    name: 'paid once',
    moment(seen) {
      if (new Set(paid).size < paid.length) seen.fail('paid once', `paid: ${paid.join(', ')}`)
    },
  })
  const pay = tool({
    name: 'pay',
    description: 'pays',
    effect: 'idempotent',
    input: { type: 'object', properties: { amount: { type: 'integer' } } },
    run(_args, { idempotencyKey }) {
      paid.push(idempotencyKey)
      return 'paid'
    },
  })
  return agent({ model: 'any', tools: [pay] })
}

/** It counts turns in memory, where a fold would have come back after a crash. */
function losesCount(world: SimWorld): AgentSpec {
  let counted = 0
  const counting: Plugin = {
    name: 'counting',
    setup(scope) {
      counted = 0
      scope.on('onEvent', (event) => void (counted += event.type === 'turn.ended' ? 1 : 0))
    },
  }
  world.check({
    name: 'counted',
    end(seen) {
      const ended = seen.log.filter((event) => event.type === 'turn.ended').length
      if (ended !== counted) seen.fail('counted', `${counted} turns of ${ended}`)
    },
  })
  return agent({ model: 'any', plugins: [counting] })
}

/** It never lets a session be driven that is due. */
const sleepsOn: Plugin = { name: 'asleep', setup: (scope) => scope.on('decideWake', () => false) }

export const PLANTED: Readonly<Record<string, Planted>> = {
  'a store that does not hold back an append for what is pending': {
    rule: 'I4',
    options: { agent: simulatedAgent, store: overlooksSteers },
  },
  'a store that takes an id twice': {
    rule: 'I2',
    options: { agent: simulatedAgent, store: forgetsIds },
  },
  'a store that gives the lease to whoever asks': {
    rule: 'W1',
    options: { agent: simulatedAgent, store: givesLeasesAway },
  },
  'a loop whose queue starts by itself after an abort': {
    rule: 'I9',
    options: { agent: startsByItself },
  },
  'a loop that does not hear an abort': { rule: 'T7', options: { agent: ignoresAborts } },
  'a tool that says idempotent and is not': {
    rule: 'paid once',
    options: { agent: paysTwice },
  },
  'a plugin that lets nobody wake': {
    rule: 'W3',
    options: { agent: (world) => agent({ ...simulatedAgent(world), plugins: [sleepsOn] }) },
  },
  'a plugin that loses count in a crash': { rule: 'counted', options: { agent: losesCount } },
}
