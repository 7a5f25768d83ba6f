/** A scenario file: blocks of commands, `----`, and what they print, up to an empty line. Indented lines belong to the command above. */
import type { Event } from '../../../src/kernel/events.ts'
import { sessionId } from '../../../src/kernel/ids.ts'
import type { WorldOptions } from '../world.ts'
import { Scenario } from './scenario.ts'

export interface Played {
  /** The whole text again, with what was printed now. */
  readonly text: string
  readonly events: readonly Event[]
  /** What went wrong; null: nothing. */
  readonly error: unknown
}

/** The lines above each `----`, comments included. */
function blocksOf(text: string): string[][] {
  const blocks: string[][] = []
  let head: string[] = []
  let isOutput = false
  for (const line of text.split('\n')) {
    if (isOutput) isOutput = line !== ''
    else if (line === '----') {
      blocks.push(head)
      head = []
      isOutput = true
    } else head.push(line)
  }
  return blocks
}

/** Commands, each with the indented lines below it. */
function commandsOf(head: readonly string[]): { readonly command: string; readonly body: string[] }[] {
  const commands: { command: string; body: string[] }[] = []
  for (const line of head) {
    if (line === '' || line.startsWith('#')) continue
    if (line.startsWith('  ')) commands.at(-1)!.body.push(line.trim())
    else commands.push({ command: line, body: [] })
  }
  return commands
}

/** Plays a scenario to its end, or to what went wrong; in memory, unless it is told where. */
export async function playScenario(text: string, where: Pick<WorldOptions, 'store' | 'clock'> = {}): Promise<Played> {
  const scenario = new Scenario(where)
  const played: string[] = []
  let error: unknown = null
  const attempt = async (run: () => Promise<void>): Promise<void> => {
    if (error === null) await run().catch((thrown: unknown) => (error = thrown))
  }
  for (const head of blocksOf(text)) {
    for (const { command, body } of commandsOf(head)) await attempt(() => scenario.run(command, body))
    played.push([...head, '----', ...scenario.lines.splice(0), ''].join('\n'))
  }
  const { events } = await scenario.world.store.read(sessionId('s'))
  await attempt(() => scenario.end())
  return { text: played.join('\n'), events, error }
}

/** Whether a scenario is about processes that die or are cut off: only a store in memory can tell of that within one process. */
export function isOfProcesses(text: string): boolean {
  return blocksOf(text)
    .flatMap(commandsOf)
    .some(({ command }) => /^(kill|crash|cut)\b/.test(command))
}

const SETUP = ['tool', 'limits', 'locale']

/** A scenario of which only the tools, the limits and the language are set up. */
export async function setUpScenario(text: string): Promise<Scenario> {
  const scenario = new Scenario({ idPrefix: 'later' })
  for (const { command } of blocksOf(text).flatMap(commandsOf)) {
    if (SETUP.includes(command.split(' ')[0]!)) await scenario.run(command, [])
  }
  return scenario
}
