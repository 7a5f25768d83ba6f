// turnstep as its documentation says to use it: default loop, default checks, the store of `createHarness`. Bounds are lifted where a
// case needs more than the default: steps of a turn, calls at once. `wait5` declares that it changes nothing, since undeclared tools
// count as writes and run one after the other; `noop` declares nothing, so its start is written ahead.
import { agent, createHarness, tool } from 'turnstep'

export const info = {
  title: 'turnstep',
  packages: ['turnstep'],
  persist: 'SQLite, synchronous=FULL',
  mode: 'streaming',
}

export async function load({ script, persist, dir }) {
  const harness = await createHarness({ store: persist ? `${dir}/sessions.db` : 'memory' })
  const usage = { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
  const model = {
    route: { adapter: 'bench', wire: 'none', provider: 'bench', model: 'script', scope: 'default' },
    binding: 'none',
    contextTokens: null,
    async *stream({ messages }) {
      const { text, deltas = [], toolCalls = [] } = script.next(messages.length)
      for (const delta of deltas) yield { type: 'text', text: delta }
      const calls = toolCalls.map(({ id, name, json }) => ({ providerId: id, name, args: json }))
      const parts = calls.length > 0 ? calls.map((_, index) => ({ type: 'call', index })) : [{ type: 'text', text }]
      const kind = calls.length > 0 ? 'calls' : 'done'
      yield { type: 'end', kind, reply: { parts, calls, replay: null, usage, rawFinish: kind } }
    },
  }
  const tools = script
    .tools()
    .map(({ name, description, params, execute }) =>
      tool({ name, description, input: params, run: execute, ...(name === 'wait5' ? { effect: 'read' } : {}) }),
    )
  const scripted = agent({ model, tools, instructions: 'x', limits: { steps: 1_000_000, pool: 20 } })
  return {
    async open(id, { stream = false } = {}) {
      const session = await harness.open(scripted, { session: id })
      return {
        async run(input) {
          const turn = await session.send(input)
          if (stream) for await (const _ of turn.text) script.deltasSeen++
          const { kind } = await turn.outcome
          if (kind !== 'completed') throw new Error(`the turn ended ${kind}`)
        },
        close: () => session.close(),
      }
    },
    close: () => harness.close(),
  }
}
