/** What befalls the body of a tool: nothing, or a failure, a wait or a silence, before it did its work or after. */
import type { HookName, Hooks, Plugin, Scope } from '../../../runtime/define/plugin.ts'
import type { Args, Tool, ToolContext, ToolResult } from '../../../runtime/define/tool.ts'
import { deferred, type Deferred } from '../../../util/deferred.ts'
import type { Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'
import type { Fate } from '../fate.ts'
import type { Running } from '../running.ts'
import type { Body, Witness } from '../witness.ts'
import { processName } from '../world.ts'

/** `…-after`: the work was done, and its result does not come back. */
export type BodyMood =
  | 'plain'
  | 'throws'
  | 'throws-after'
  /** Waits to be let go, whatever its signal says. */
  | 'hangs'
  | 'hangs-after'
  /** Waits for its signal, and throws. */
  | 'obeys'
  | readonly ['slow', number]

/** Bodies that wait to be let go, by call; the oldest first. */
export type Hanging = Map<Body, Deferred<void>>

export interface ToolMoodOptions {
  readonly fate: Fate
  readonly seen: Witness
  readonly running: Running
  readonly process: number
  readonly hanging: Hanging
  /** Nothing befalls it. */
  readonly isGood: boolean
}

/** The tool, whose bodies are seen and have moods. */
export function moodyTool(tool: Tool, options: ToolMoodOptions): Tool {
  return { ...tool, run: (args, context) => runMoody(tool, args, context, options) }
}

/** The plugin, whose tools are seen and have moods, and whose hooks are counted. */
export function withMoodyTools(plugin: Plugin, options: ToolMoodOptions): Plugin {
  const { running, process } = options
  const counted = <Name extends HookName>(name: Name, hook: Hooks[Name]): Hooks[Name] => {
    const work = { process: processName(process), what: `hook ${name} of ${plugin.name}` }
    const call = hook as (...args: unknown[]) => unknown
    return ((...args: unknown[]) => running.during({ ...work }, () => call(...args))) as Hooks[Name]
  }
  const setup = (scope: Scope): void =>
    plugin.setup({
      ...scope,
      tool: (tool) => scope.tool(moodyTool(tool, options)),
      on: (name, hook, how) => scope.on(name, counted(name, hook), how),
    })
  return { name: plugin.name, setup }
}

async function runMoody(
  tool: Tool,
  args: Args,
  context: ToolContext,
  { fate, seen, running, process, hanging, isGood }: ToolMoodOptions,
): Promise<ToolResult> {
  const { call, fence, idempotencyKey: key } = context
  const body: Body = { tool: tool.name, effect: tool.effect, call, fence, key, args, process, ended: false }
  const mood = isGood ? 'plain' : (fate.decide(`tool ${tool.name}`, 'plain' as Json, draw) as BodyMood)
  seen.began(body)
  try {
    await before(mood, body, context, hanging)
    const work = { process: processName(process), what: `tool ${tool.name} ${call}` }
    const result = await running.during(work, () => tool.run(args, context))
    // Whoever has to let it go has gone round by then.
    if (mood === 'hangs-after' && !fate.isCalm) await letGo(body, hanging)
    if (mood === 'throws-after') throw new Error('the answer was lost')
    return result
  } finally {
    body.ended = true
    hanging.delete(body)
  }
}

function draw(chance: Chance): BodyMood {
  return chance.weighted<() => BodyMood>([
    [50, () => 'plain'],
    [20, () => ['slow', 1 + chance.below(chance.is(0.2) ? 3_000 : 300)]],
    [8, () => 'throws'],
    [4, () => 'throws-after'],
    [10, () => 'hangs'],
    [6, () => 'hangs-after'],
    [8, () => 'obeys'],
  ])()
}

async function before(mood: BodyMood, body: Body, { clock, signal }: ToolContext, hanging: Hanging): Promise<void> {
  if (Array.isArray(mood)) await new Promise<void>((resolve) => clock.after(mood[1] as number, resolve))
  if (mood === 'throws') throw new Error('failed')
  if (mood === 'hangs') await letGo(body, hanging)
  if (mood !== 'obeys') return
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  throw new Error('stopped by the signal')
}

function letGo(body: Body, hanging: Hanging): Promise<void> {
  const end = deferred<void>()
  hanging.set(body, end)
  return end.promise
}
