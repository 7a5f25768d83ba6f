/** One HTTP call whose answer is read piece by piece, under a watch. */
import type { Dispatcher } from './proxy.ts'
import type { Cut, Waited, Watch } from './watch.ts'

interface HttpCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly fetch: typeof fetch
  /** A dispatcher of undici, where the call goes through a proxy. */
  readonly dispatcher?: Dispatcher
}

type Opened =
  | { readonly kind: 'opened'; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'cut'; readonly cut: Cut }

/** The next piece of a body; null: it ended. */
type Piece = Waited<Uint8Array | null>

/** Sends the call. Never throws; a cut closes the connection even if the other side ignores it. */
export async function openCall(call: HttpCall, watch: Watch): Promise<Opened> {
  const sent = send(call, watch.signal)
  const waited = await watch.wait(sent)
  if (waited.kind === 'value') return { kind: 'opened', answer: new Answer(waited.value, watch) }
  // A fetch that ignores its signal may answer later: nobody will read that.
  sent.then(
    (late) => void late.body?.cancel().catch(ignoreLateError),
    () => {},
  )
  return waited
}

async function send(call: HttpCall, signal: AbortSignal): Promise<Response> {
  const { url, headers, body, dispatcher } = call
  const init = { method: 'POST', headers, body, signal, ...(dispatcher === undefined ? {} : { dispatcher }) }
  // The types of the undici that is installed and of the one inside Node differ; the protocol between them does not.
  return await call.fetch(url, init as RequestInit)
}

/** An answer whose headers have come. Whoever holds it closes it. */
export class Answer {
  readonly status: number
  readonly headers: Headers
  readonly #watch: Watch
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null

  constructor(response: Response, watch: Watch) {
    this.status = response.status
    this.headers = response.headers
    this.#watch = watch
    this.#reader = response.body?.getReader() ?? null
  }

  async read(): Promise<Piece> {
    if (this.#reader === null) return { kind: 'value', value: null }
    const waited = await this.#watch.wait(this.#reader.read())
    if (waited.kind !== 'value') return waited
    this.#watch.heard()
    return { kind: 'value', value: waited.value.value ?? null }
  }

  /** The body as text, at most about `bytesMax` of it. A body that breaks off is as long as it came. */
  async text(bytesMax: number): Promise<{ readonly text: string; readonly cut: Cut | null }> {
    const decoder = new TextDecoder()
    let text = ''
    for (let bytes = 0; bytes < bytesMax;) {
      const piece = await this.read()
      if (piece.kind === 'cut') return { text, cut: piece.cut }
      if (piece.kind === 'failed' || piece.value === null) break
      bytes += piece.value.byteLength
      text += decoder.decode(piece.value, { stream: true })
    }
    return { text: text + decoder.decode(), cut: null }
  }

  /** Gives up the rest of the body. */
  close(): void {
    this.#reader?.cancel().catch(ignoreLateError)
  }
}

/** Swallows what the transport says about a body that is not wanted any more: the outcome of the call is settled. */
function ignoreLateError(): void {}
