// Turnstep as its guides show it: a SQLite file, the default limits, and the default effect of every tool, which is `write`.
import { agent, createHarness, tool } from 'turnstep'

export const info = {
  title: 'Turnstep',
  packages: ['turnstep'],
  persist: 'SQLite, the default store',
  steer: 'session.steer()',
  approve: '`approval` of the tool, session.approve()',
  resume: 'open() goes on with what is owed',
}

export async function load({ model, tools, dir, approvals }) {
  const spec = agent({
    model: modelPort(model),
    tools: tools.map((one) =>
      tool({
        name: one.name,
        description: one.description,
        input: one.params,
        approval: approvals === true && one.name === 'refund',
        run: (args, { idempotencyKey, signal }) => one.execute(args, { id: idempotencyKey, signal }),
      }),
    ),
  })
  const harness = await createHarness({ store: `${dir}/sessions.db` })

  return {
    async open(name) {
      const tail = (await harness.list()).find((row) => row.session === name)?.tail ?? 0
      const session = await harness.open(spec, { session: name })
      /** Null: no turn has ended since this process opened the session, and none waits. */
      const settled = async () => {
        if ((await session.settled()).kind === 'waiting') return { end: 'pending' }
        const ended = (await session.history({ after: tail })).findLast((event) => event.type === 'turn.ended')
        return ended === undefined ? null : { end: ended.outcome.kind }
      }
      return {
        stored: (await session.context()).messages.length,
        async send(text) {
          await session.send(text)
          return settled()
        },
        steer: (text) => session.steer(text),
        async abort() {
          await session.abort()
          await session.settled()
        },
        resume: settled,
        async approve() {
          const status = await session.settled()
          if (status.kind !== 'waiting') return null
          for (const ask of status.asks) await session.approve(ask.call)
          return settled()
        },
      }
    },
  }
}

/** The bench's model behind the `Model` port. What it must get back with its replies travels as their replay state. */
function modelPort(model) {
  return {
    route: { adapter: 'bench', wire: 'none', provider: 'bench', model: 'mock', scope: 'default' },
    binding: 'none',
    contextTokens: null,
    async *stream(request, signal) {
      const { text, calls = [], reasoning, finish } = await model(heard([...request.messages]))
      if (signal.aborted) {
        yield {
          type: 'end',
          kind: 'aborted',
          failure: { kind: 'aborted', message: 'aborted', retry: false },
          usage: null,
        }
        return
      }
      const reply = {
        parts: [
          ...(reasoning === undefined ? [] : [{ type: 'reasoning', text: reasoning.text }]),
          ...(text === undefined ? [] : [{ type: 'text', text }]),
          ...calls.map((_, index) => ({ type: 'call', index })),
        ],
        calls: calls.map(({ id, name, json }) => ({ providerId: id, name, args: json })),
        replay: JSON.stringify({ signature: reasoning?.signature, metas: calls.map(({ meta }) => meta ?? null) }),
        usage: null,
        rawFinish: finish ?? 'stop',
      }
      const kind = finish === 'length' ? 'max-tokens' : calls.length > 0 ? 'calls' : 'done'
      yield { type: 'end', kind, reply }
    },
  }
}

/** A history as the bench writes it, with the ids that the model gave its calls: a provider is sent its own. */
function heard(messages) {
  const ids = new Map()
  return messages.map((message) => {
    if (message.role === 'user') return { role: 'user', text: textOf(message.content) }
    if (message.role === 'tool') return { role: 'tool', id: ids.get(message.call), text: textOf(message.content) }
    for (const { id, providerId } of message.calls) ids.set(id, providerId)
    const state = message.replay === undefined ? null : JSON.parse(message.replay.state)
    const thought = message.parts.find((part) => part.type === 'reasoning')
    return {
      role: 'assistant',
      text: textOf(message.parts),
      calls: message.calls.map(({ providerId, name, args }, at) => ({
        id: providerId,
        name,
        json: args,
        meta: state?.metas[at] ?? undefined,
      })),
      ...(thought === undefined ? {} : { reasoning: { text: thought.text, signature: state?.signature } }),
    }
  })
}

function textOf(parts) {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
