/** What scripts ask about a request. Nothing is worked out before it is asked, so that a step costs nothing with the length of the history. */
import type { AssistantMessage, Message, ToolMessage } from '../../kernel/message.ts'
import { textOf } from '../../kernel/message.ts'
import type { ModelRequest } from '../../runtime/ports.ts'

export class RequestView {
  readonly request: ModelRequest
  readonly attempt: number
  #text: string | null = null

  constructor(request: ModelRequest, attempt: number) {
    this.request = request
    this.attempt = attempt
  }

  get toolNames(): string[] {
    return this.request.tools.map((tool) => tool.name)
  }

  get callsForbidden(): boolean {
    return this.request.toolChoice === 'none' || this.request.tools.length === 0
  }

  /** Text of the last user message, empty where there is none. */
  get lastUser(): string {
    for (let index = -1; ; index--) {
      const message = this.request.messages.at(index)
      if (message === undefined) return ''
      if (message.role === 'user') return textOf(message.content)
    }
  }

  /** The results that this request brings: those behind the last assistant message, in order. */
  get newResults(): ToolMessage[] {
    return this.#behind('assistant')
  }

  /** Tool results behind the last user message. */
  get resultsSinceUser(): number {
    return this.#behind('user').length
  }

  lastResultOf(tool: string): ToolMessage | null {
    for (let index = -1; ; index--) {
      const message = this.request.messages.at(index)
      if (message === undefined) return null
      if (message.role === 'tool' && message.name === tool) return message
    }
  }

  get assistants(): AssistantMessage[] {
    const found: AssistantMessage[] = []
    for (const message of this.request.messages) if (message.role === 'assistant') found.push(message)
    return found
  }

  /** All that the model sees, as one text. */
  get text(): string {
    this.#text ??= [this.request.system, ...[...this.request.messages].map(messageText)].join('\n')
    return this.#text
  }

  #behind(role: 'assistant' | 'user'): ToolMessage[] {
    const results: ToolMessage[] = []
    for (let index = -1; ; index--) {
      const message = this.request.messages.at(index)
      if (message === undefined || message.role === role) return results.reverse()
      if (message.role === 'tool') results.push(message)
    }
  }
}

function messageText(message: Message): string {
  if (message.role !== 'assistant') return textOf(message.content)
  return [textOf(message.parts), ...message.calls.map((call) => `${call.name} ${call.args}`)].join('\n')
}
