/** Two plugins at the gate: one rejects single messages, one keeps state of its own and refuses the next step. */
import type { Event, MessageInput, Plugin, SessionId, Token } from 'turnstep'

/** A message with a key in it does not reach the model; those beside it do. */
export const noKeys: Plugin = {
  name: 'no-keys',
  setup(scope) {
    scope.on('decideEnter', ({ inputs }) => ({
      reject: Object.fromEntries(inputs.filter(holdsKey).map(({ id }) => [id, 'there is a key in it'])),
    }))
  },
}

function holdsKey({ content }: MessageInput): boolean {
  return content.some((part) => part.type === 'text' && /\bsk-\w{8}/.test(part.text))
}

/** How others ask how much was spent. */
export const spending: Token<{ of(session: SessionId): number }> = { name: 'spending' }

/** Counts tokens over all turns, and refuses the next step beyond a bound. */
export function tokenBound(tokensMax: number): Plugin {
  return {
    name: 'token-bound',
    setup(scope) {
      const spent = scope.fold({ initial: 0, apply: (sum, event) => sum + tokensOf(event) })
      scope.provide(spending, { of: (session) => spent.read(session) })
      scope.on('decideEnter', (_gate, { session }) => {
        const tokens = spent.read(session)
        return tokens < tokensMax ? undefined : { refuse: `${tokens} of ${tokensMax} tokens are spent` }
      })
    },
  }
}

function tokensOf(event: Event): number {
  switch (event.type) {
    case 'reply.completed':
    case 'reply.interrupted':
    case 'model.failed':
      return event.usage.input + event.usage.output
    default:
      return 0
  }
}
