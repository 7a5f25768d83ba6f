/**
 * Runs `scenarios/*.txt`: blocks of commands, `----`, and what they print, up to an empty line. Lines that are indented belong to
 * the command above. `TURNSTEP_REWRITE=1` writes what was printed into the files; read the difference before you keep it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { env } from '../src/host/node.ts'
import { Scenario } from './kit/scenario/scenario.ts'

const FOLDER = new URL('scenarios/', import.meta.url)
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'))

interface Block {
  /** The lines above `----`, comments included. */
  readonly head: readonly string[]
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = []
  let head: string[] = []
  let isOutput = false
  for (const line of text.split('\n')) {
    if (isOutput) isOutput = line !== ''
    else if (line === '----') {
      blocks.push({ head })
      head = []
      isOutput = true
    } else head.push(line)
  }
  return blocks
}

/** Commands, each with the indented lines below it. */
function commandsOf({ head }: Block): { readonly command: string; readonly body: string[] }[] {
  const commands: { command: string; body: string[] }[] = []
  for (const line of head) {
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith('  ')) commands.at(-1)!.body.push(line.trim())
    else commands.push({ command: line, body: [] })
  }
  return commands
}

/** The whole text again, with what was printed now; and what went wrong, if something did. */
async function play(text: string): Promise<{ readonly played: string; readonly error: unknown }> {
  const scenario = new Scenario()
  const played: string[] = []
  let error: unknown = null
  try {
    for (const block of blocksOf(text)) {
      played.push([...block.head, '----'].join('\n'))
      for (const { command, body } of commandsOf(block)) await scenario.run(command, body)
      played.push([...scenario.lines.splice(0), ''].join('\n'))
    }
  } catch (thrown) {
    error = thrown
    played.push(...scenario.lines.splice(0), `!! ${String(thrown)}`, '')
  }
  await scenario.end().catch((thrown: unknown) => (error ??= thrown))
  return { played: played.join('\n'), error }
}

describe('scenarios', () => {
  it.each(NAMES)('%s', async (name) => {
    const file = new URL(name, FOLDER)
    const text = readFileSync(file, 'utf8')
    const { played, error } = await play(text)
    if (env('TURNSTEP_REWRITE') === '1') writeFileSync(file, played)
    else expect(played).toBe(text)
    expect(error).toBeNull()
  })
})
