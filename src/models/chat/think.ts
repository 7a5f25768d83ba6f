/** Thinking that stands inside the content, as `<think>…</think>` at its very start. */

export interface Span {
  readonly type: 'text' | 'reasoning'
  readonly text: string
}

const OPEN = '<think>'
const CLOSE = '</think>'

/** Tells thinking from text while the content streams in. A tag may come in pieces; later tags are text. */
export class ThinkSplitter {
  #state: 'start' | 'thinking' | 'gap' | 'text'
  /** Not told apart yet. */
  #held = ''

  constructor(enabled: boolean) {
    this.#state = enabled ? 'start' : 'text'
  }

  push(content: string): readonly Span[] {
    if (this.#state === 'text') return spans('text', content)
    this.#held += content
    const out: Span[] = []
    if (this.#state === 'start') out.push(...this.#open())
    if (this.#state === 'thinking') out.push(...this.#close())
    if (this.#state === 'gap') out.push(...this.#afterGap())
    return out
  }

  /** What is still held when the content ends. */
  end(): readonly Span[] {
    const held = this.#held
    this.#held = ''
    return this.#state === 'gap' ? [] : spans(this.#state === 'thinking' ? 'reasoning' : 'text', held)
  }

  #open(): readonly Span[] {
    const ahead = this.#held.trimStart()
    if (OPEN.startsWith(ahead.slice(0, OPEN.length)) && ahead.length < OPEN.length) return []
    if (ahead.startsWith(OPEN)) {
      this.#state = 'thinking'
      this.#held = ahead.slice(OPEN.length)
      return []
    }
    this.#state = 'text'
    return this.#release()
  }

  #close(): readonly Span[] {
    const at = this.#held.indexOf(CLOSE)
    if (at >= 0) {
      const thought = this.#held.slice(0, at)
      this.#held = this.#held.slice(at + CLOSE.length)
      this.#state = 'gap'
      return spans('reasoning', thought)
    }
    // The end of what is held may be the start of the closing tag.
    let keep = Math.min(CLOSE.length - 1, this.#held.length)
    while (!CLOSE.startsWith(this.#held.slice(this.#held.length - keep))) keep--
    const thought = this.#held.slice(0, this.#held.length - keep)
    this.#held = this.#held.slice(this.#held.length - keep)
    return spans('reasoning', thought)
  }

  /** The blank lines between thinking and text belong to neither. */
  #afterGap(): readonly Span[] {
    this.#held = this.#held.replace(/^[\r\n]+/, '')
    if (this.#held === '') return []
    this.#state = 'text'
    return this.#release()
  }

  #release(): readonly Span[] {
    const held = this.#held
    this.#held = ''
    return spans('text', held)
  }
}

function spans(type: Span['type'], text: string): readonly Span[] {
  return text === '' ? [] : [{ type, text }]
}
