/** The floor: the loop that everybody writes first. An array of messages, a model call, the tools, again. It keeps nothing and checks nothing. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Peer } from './peer.ts'
import { WAIT_MS, type Script, type ScriptedReply, type ToolName } from './script.ts'

type BareMessage =
  | { readonly role: 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly calls: ScriptedReply['calls'] }
  | { readonly role: 'tool'; readonly call: string; readonly content: string }

/** Reads the reply as it streams where `stream` says so. */
export function barePeer(script: Script, { stream = false }: { readonly stream?: boolean } = {}): Peer {
  const tools = new Map<ToolName, (args: { readonly q?: unknown }) => Promise<string>>([
    ['noop', async (args) => script.run(args)],
    ['wait', async (args) => (await wait(WAIT_MS), script.run(args))],
  ])
  const run = async (history: BareMessage[], input: string): Promise<void> => {
    history.push({ role: 'user', content: input })
    for (;;) {
      const { text, calls } = stream ? await read(script, history.length) : await ask(script, history.length)
      history.push({ role: 'assistant', content: text, calls })
      if (calls.length === 0) return
      const results = await Promise.all(
        calls.map((call) => tools.get(call.name)!(JSON.parse(call.args) as { readonly q?: unknown })),
      )
      results.forEach((content, at) => history.push({ role: 'tool', call: calls[at]!.id, content }))
    }
  }
  return {
    async open() {
      const history: BareMessage[] = []
      return { run: (input) => run(history, input), close: async () => {} }
    },
    async close() {},
  }
}

async function ask(script: Script, messages: number): Promise<ScriptedReply> {
  return script.next(messages)
}

async function* streamed(script: Script, messages: number): AsyncGenerator<string, ScriptedReply, undefined> {
  const reply = script.next(messages)
  for (const delta of reply.deltas) yield delta
  return reply
}

async function read(script: Script, messages: number): Promise<ScriptedReply> {
  const stream = streamed(script, messages)
  for (;;) {
    const next = await stream.next()
    if (next.done === true) return next.value
    script.deltasSeen++
  }
}
