/**
 * What a log says, forgotten once its rules are judged: the fold looks at the roles and the sizes of the messages in a context, and at
 * which of them are directives, but never at their words. So whoever asks no model may let the words go.
 * Owns no rule. Invariant: a state that forgets accepts and refuses the same events, for the same reasons, as one that does not.
 */
import { sizeOf } from './context.ts'
import type { Message, UserMessage } from './message.ts'
import type { State } from './state.ts'

/**
 * Makes a function that is called after each fold of one state, and takes the words out of what was added to its context. What
 * stays of a message is a reference of eight bytes. The context cannot be shown to a model, or to anybody, afterwards.
 */
export function forgetful(): (state: State) => void {
  const blanks = new Map<string, Message>()
  /** Directives of the open turn, each a blank of its own, by their places. */
  const own = new Map<Message, number>()
  let context: Message[] | null = null
  let length = 0
  return (state) => {
    const isNew = state.context !== context || state.context.length < length
    for (let at = isNew ? 0 : length; at < state.context.length; at++) {
      const message = state.context[at]!
      const directive = own.has(message) ? message : ownBlank(state, message)
      if (directive !== null) own.set(directive, at)
      state.context[at] = directive ?? shared(blanks, message)
    }
    context = state.context
    length = context.length
    if (state.turn !== null || own.size === 0) return
    for (const [blank, at] of own) context[at] = shared(blanks, blank)
    own.clear()
  }
}

/** The directive that was just added is told from others by identity (X4): it gets a blank of its own. */
function ownBlank({ turn }: State, message: Message): UserMessage | null {
  if (turn === null || message.role !== 'user' || turn.directives.at(-1) !== message) return null
  const blank = { ...blankOf(message), role: 'user', origin: message.origin } as const
  turn.directives[turn.directives.length - 1] = blank
  return blank
}

function shared(blanks: Map<string, Message>, message: Message): Message {
  const key = `${message.role} ${sizeOf(message)}`
  const known = blanks.get(key)
  if (known !== undefined) return known
  const blank = blankMessage(message)
  blanks.set(key, blank)
  return blank
}

function blankMessage(message: Message): Message {
  const { content } = blankOf(message)
  switch (message.role) {
    case 'user':
      return { role: 'user', content, origin: { kind: 'system' } }
    case 'tool':
      return { role: 'tool', call: message.call, name: message.name, outcome: message.outcome, content }
    case 'assistant':
      return { role: 'assistant', parts: content, calls: [] }
  }
}

/** A text that long takes no room as long as nobody reads it. */
function blankOf(message: Message): { readonly content: readonly { readonly type: 'text'; readonly text: string }[] } {
  return { content: [{ type: 'text', text: ' '.repeat(sizeOf(message)) }] }
}
