/**
 * The neutral validator: what no wire would take is found before a request leaves (WIRE: a 400 for pairing should be impossible).
 * It reads each message once: validating a grown context costs only what grew (L3).
 */
import type { CallId } from './ids.ts'
import {
  isBlank,
  namesInOrder,
  type AssistantMessage,
  type Message,
  type Messages,
  type ToolMessage,
} from './message.ts'

/** What is wrong with a transcript, and at which message. */
export interface TranscriptFault {
  /** Index of the message. */
  readonly at: number
  readonly problem: string
}

/** Validates a transcript message by message, each once, however long it grows (L3). */
export class TranscriptCheck {
  #read = 0
  #open: CallId[] = []
  #seen = new Set<CallId>()
  #last: Message['role'] | null = null
  #source: readonly unknown[] | null = null
  /** A context with a fault has it for good: nothing in it is ever changed (X1). */
  #fault: TranscriptFault | null = null

  /** Checks the messages not read yet, and that a model may speak next. `source` names the context: another one starts over. */
  check(messages: Messages, source: readonly unknown[]): TranscriptFault | null {
    if (source !== this.#source || messages.length < this.#read) this.#restart(source)
    if (this.#fault !== null) return this.#fault
    for (; this.#read < messages.length; this.#read++) {
      const problem = this.#accept(messages.at(this.#read)!)
      if (problem !== null) return (this.#fault = { at: this.#read, problem })
    }
    if (messages.length === 0) return { at: 0, problem: 'there is no message' }
    if (this.#open.length > 0)
      return { at: messages.length, problem: `calls without a result: ${this.#open.join(', ')}` }
    return null
  }

  #restart(source: readonly unknown[]): void {
    this.#source = source
    this.#read = 0
    this.#open = []
    this.#seen = new Set()
    this.#last = null
    this.#fault = null
  }

  #accept(message: Message): string | null {
    const problem = message.role === 'tool' ? this.#tool(message) : this.#speech(message)
    this.#last = message.role
    return problem
  }

  #tool(message: ToolMessage): string | null {
    const expected = this.#open.shift()
    if (expected === undefined) return `a result for ${message.call}, which is not open`
    if (expected !== message.call) return `a result for ${message.call} where that of ${expected} belongs`
    return null
  }

  #speech(message: Exclude<Message, ToolMessage>): string | null {
    if (this.#open.length > 0) return `a ${message.role} message before the result of ${this.#open[0]}`
    if (message.role === 'user')
      return message.content.some(isBlank) || message.content.length === 0 ? 'an empty user message' : null
    if (this.#last === null) return 'the first message is not from the user'
    return this.#assistant(message)
  }

  #assistant(message: AssistantMessage): string | null {
    if (!message.parts.some((part) => part.type !== 'reasoning')) return 'a reply without text and calls'
    if (!namesInOrder(message.parts, message.calls)) return 'calls and parts disagree'
    for (const call of message.calls) {
      if (this.#seen.has(call.id)) return `the call id ${call.id} twice`
      if (!isObjectText(call.args)) return `arguments of ${call.id} that are no JSON object`
      this.#seen.add(call.id)
      this.#open.push(call.id)
    }
    return null
  }
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
