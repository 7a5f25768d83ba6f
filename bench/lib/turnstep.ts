/** What is measured: turnstep as its documentation says to use it, with the default loop and all of its checks, on a scripted model. */
import { agent, createHarness, tool } from 'turnstep'
import type { AgentSpec, CreateOptions, Harness, Model, ModelChunk, ModelRequest } from 'turnstep'
import type { Peer } from './peer.ts'
import { TOOL_INPUT, WAIT_MS, type Script, type ScriptedReply } from './script.ts'

export interface TurnstepOptions {
  /** `memory`, or the path of a SQLite file. */
  readonly store: NonNullable<CreateOptions['store']>
  /** Reads the reply as it streams. */
  readonly stream?: boolean
}

export interface TurnstepPeer extends Peer {
  readonly harness: Harness
  readonly agent: AgentSpec
}

export async function turnstepPeer(script: Script, { store, stream = false }: TurnstepOptions): Promise<TurnstepPeer> {
  const harness = await createHarness({ store })
  const spec = scriptedAgent(script)
  return {
    harness,
    agent: spec,
    async open(id) {
      const session = await harness.open(spec, { session: id })
      return {
        async run(input) {
          const turn = await session.send(input)
          if (stream) for await (const _ of turn.text) script.deltasSeen++
          const { kind } = await turn.outcome
          if (kind !== 'completed') throw new Error(`the turn ended ${kind}; the figure is void`)
        },
        close: () => session.close(),
      }
    },
    close: () => harness.close(),
  }
}

/**
 * Bounds are lifted where a case needs more than the default: steps of a turn, calls at once. `noop` declares nothing and so counts
 * as a `write`, with its start written ahead; `wait` declares that it changes nothing, since others would run one after the other.
 */
export function scriptedAgent(script: Script): AgentSpec {
  return agent({
    model: scriptedModel(script),
    instructions: 'Be brief.',
    tools: [
      tool({
        name: 'noop',
        description: 'Answers at once.',
        input: TOOL_INPUT,
        run: async (args) => script.run(args),
      }),
      tool({
        name: 'wait',
        description: 'Answers after a moment.',
        input: TOOL_INPUT,
        effect: 'read',
        run: async (args, { clock }) => {
          await new Promise<void>((resolve) => void clock.after(WAIT_MS, resolve))
          return script.run(args)
        },
      }),
    ],
    limits: { steps: 1_000_000, pool: 20 },
  })
}

function scriptedModel(script: Script): Model {
  return {
    route: { adapter: 'bench', wire: 'none', provider: 'bench', model: 'script', scope: 'default' },
    binding: 'none',
    contextTokens: null,
    async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
      const reply = script.next(request.messages.length)
      for (const text of reply.deltas) yield { type: 'text', text }
      yield endOf(reply)
    },
  }
}

function endOf({ text, calls }: ScriptedReply): ModelChunk {
  return {
    type: 'end',
    kind: calls.length > 0 ? 'calls' : 'done',
    reply: {
      parts: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls.map((_, index) => ({ type: 'call' as const, index })),
      ],
      calls: calls.map(({ id, name, args }) => ({ providerId: id, name, args })),
      replay: null,
      usage: { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
      rawFinish: 'stop',
    },
  }
}
