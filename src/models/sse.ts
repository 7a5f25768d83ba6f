/** Server-sent events out of bytes, however they are cut (case 073). */
import type { ParseError } from 'eventsource-parser'

export type SseItem =
  | { readonly kind: 'event'; readonly event: string; readonly data: string }
  /** A line that is no server-sent event. */
  | { readonly kind: 'garbage'; readonly line: string }

interface SseReader {
  push(bytes: Uint8Array): readonly SseItem[]
  /** At the end of the body: what an unfinished last event held. */
  end(): readonly SseItem[]
}

/** Units of text that one event may have. */
const EVENT_MAX = 16 * 2 ** 20

/** Makes a reader; the parser is loaded with the first one. */
export async function sseReader(): Promise<SseReader> {
  const { createParser } = await import('eventsource-parser')
  const decoder = new TextDecoder()
  let items: SseItem[] = []
  let broken = false
  const parser = createParser({
    maxBufferSize: EVENT_MAX,
    onEvent: ({ event = '', data }) => items.push({ kind: 'event', event, data }),
    onError(error: ParseError) {
      if (error.type === 'invalid-retry') return
      broken ||= error.type === 'max-buffer-size-exceeded'
      items.push({ kind: 'garbage', line: error.line ?? error.message })
    },
  })
  const feed = (text: string): readonly SseItem[] => {
    items = []
    // The parser throws once it has given up on an event that never ends.
    if (!broken && text !== '') parser.feed(text)
    return items
  }
  return {
    push: (bytes) => feed(decoder.decode(bytes, { stream: true })),
    end: () => feed(`${decoder.decode()}\n\n`),
  }
}
