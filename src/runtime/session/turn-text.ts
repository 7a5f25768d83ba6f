/**
 * The text of a turn, as it streams: what was told live, and from the log what was not. Owns the order; what belongs to the turn is the
 * filter's. An iterator by hand, as each delta of each reply passes here.
 */
import { textOf } from '../../kernel/message.ts'
import { Follower, type News } from './follow.ts'
import { closed, TurnFilter, type TurnOptions } from './turn-filter.ts'

type Read = IteratorResult<string, undefined>

const DONE: Read = { done: true, value: undefined }

export class TextReader implements AsyncIterator<string, undefined> {
  readonly #options: TurnOptions
  readonly #filter: TurnFilter
  /** From the first reading to the last. */
  #follower: Follower | null = null
  #isOver = false
  #ready: string[] = []
  #given = 0
  /** Where the reply stands that was told live last. */
  #told = { step: 0, attempt: 0 }
  /** The reading at work: another waits for it. */
  #reading: Promise<Read> | null = null

  constructor(options: TurnOptions) {
    this.#options = options
    this.#filter = new TurnFilter(options)
  }

  next(): Promise<Read> {
    if (this.#reading !== null) return this.#reading.then(() => this.next())
    const piece = this.#takeReady()
    if (piece !== null) return Promise.resolve({ done: false, value: piece })
    this.#reading = this.#read().finally(() => (this.#reading = null))
    return this.#reading
  }

  async return(): Promise<Read> {
    this.#end()
    return DONE
  }

  #takeReady(): string | null {
    if (this.#given < this.#ready.length) return this.#ready[this.#given++]!
    this.#ready = []
    this.#given = 0
    return null
  }

  async #read(): Promise<Read> {
    try {
      while (!this.#isOver) {
        const follower = (this.#follower ??= new Follower(this.#options))
        const news = await follower.next()
        if (this.#isOver) return DONE
        if (news === null) throw closed(this.#options.session)
        const own = this.#filter.accept(news)
        this.#tell(own instanceof Promise ? await own : own)
        if (this.#filter.isOver) this.#end()
        const piece = this.#takeReady()
        if (piece !== null) return { done: false, value: piece }
      }
      return DONE
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    this.#isOver = true
    this.#follower?.close()
    this.#follower = null
  }

  #tell(news: News): void {
    if (news.events.length > 0) return this.#tellInOrder(news)
    for (const live of news.live) if (live.type === 'text') this.#tellLive(live)
  }

  #tellLive({ step, attempt, text }: { readonly step: number; readonly attempt: number; readonly text: string }): void {
    if (this.#told.step !== step || this.#told.attempt !== attempt) this.#told = { step, attempt }
    if (text !== '') this.#ready.push(text)
  }

  /** News bring what is streaming before what the log had already: here it is told by attempt. */
  #tellInOrder({ live, events }: News): void {
    const tellings: { readonly step: number; readonly attempt: number; readonly tell: () => void }[] = []
    for (const one of live) {
      if (one.type !== 'text') continue
      tellings.push({ step: one.step, attempt: one.attempt, tell: () => this.#tellLive(one) })
    }
    for (const event of events) {
      if (event.type !== 'reply.completed') continue
      const { step, attempt, parts } = event
      const tell = (): void => this.#tellWhole(step, attempt, textOf(parts))
      tellings.push({ step, attempt, tell })
    }
    tellings.sort((one, other) => one.step - other.step || one.attempt - other.attempt)
    for (const { tell } of tellings) tell()
  }

  /** Driven elsewhere, or before we looked: the deltas passed us by, the log has it all. */
  #tellWhole(step: number, attempt: number, text: string): void {
    const isTold = this.#told.step === step && this.#told.attempt === attempt
    if (!isTold && text !== '') this.#ready.push(text)
  }
}
