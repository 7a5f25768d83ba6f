/** Reads all of stdin as text. */
import type { Io } from './io.ts'

export async function readStdin({ stdin }: Io): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stdin as AsyncIterable<Uint8Array>) text += decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
