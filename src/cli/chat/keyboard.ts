/** The lines that a person, or a pipe, types. On a terminal the line stays below what is printed meanwhile. */
import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from 'node:readline'
import type { Io } from '../io.ts'
import type { InputLine, Output } from '../output.ts'
import { firstRow } from './row.ts'

export interface Keyboard {
  readonly isTerminal: boolean
  /** Each line once, in order. Ends with the input, or when closed. */
  readonly lines: AsyncIterable<string>
  close(): void
}

/** `onCtrlC`: pressed on a terminal, where it comes as a key and not as a signal. */
export function openKeyboard(io: Io, out: Output, prompt: string, onCtrlC: () => void): Keyboard {
  const { stdin, stdout } = io
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true && !out.json
  const typed = createInterface({
    input: stdin,
    terminal: isTerminal,
    prompt,
    ...(isTerminal ? { output: stdout } : {}),
  })
  // Made at once: what is typed before the first is asked for would be lost.
  const lines = typed[Symbol.asyncIterator]()
  typed.on('SIGINT', onCtrlC)
  if (isTerminal) {
    out.typeBelow(lineOf(typed, io))
    typed.prompt()
  }
  return {
    isTerminal,
    lines: { [Symbol.asyncIterator]: () => lines },
    close() {
      if (isTerminal) out.typeBelow(null)
      typed.close()
    },
  }
}

function lineOf(typed: Interface, { stdout }: Io): InputLine {
  return {
    hide() {
      moveCursor(stdout, 0, -typed.getCursorPos().rows)
      cursorTo(stdout, 0)
      clearScreenDown(stdout)
    },
    show: () => typed.prompt(true),
    fullRow: (text) => firstRow(text, stdout.columns),
  }
}
