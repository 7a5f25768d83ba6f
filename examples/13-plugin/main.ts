/** Plugins: one that guards, one that keeps state of its own in the log, one that holds the agent to its task. */
import type { Event, Plugin, SessionId, Token } from '../../src/index.ts'

/** Nothing is sent to anybody outside the company. */
export const onlyInside: Plugin = {
  name: 'only-inside',
  setup(scope) {
    scope.section({ name: 'mail-policy', text: 'Mail goes to addresses at example.com only.' })
    scope.on('decideCall', ({ record, args: { to } }) => {
      if (record.name !== 'send_mail' || (typeof to === 'string' && to.endsWith('@example.com'))) return undefined
      return { kind: 'deny', reason: `${JSON.stringify(to)} is outside the company.` }
    })
  },
}

/** How others ask how much was spent. */
export const spending: Token<{ of(session: SessionId): number }> = { name: 'spending' }

/** Counts tokens over all turns, and refuses the next step beyond a bound. The count is folded from the log, so it survives everything. */
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

/** The turn may not end before the answer names its source. */
export const namesItsSource: Plugin = {
  name: 'names-its-source',
  setup(scope) {
    scope.on('decideStop', ({ text }) =>
      text.includes('Source:')
        ? { goal: 'met' }
        : { veto: 'Name your source, as a last line "Source: …".', goal: 'unmet' },
    )
  },
}
