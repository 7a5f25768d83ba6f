/** What befalls the body of a tool: nothing, or a failure, a wait or a silence, before it did its work or after. */
import type { Plugin } from '../../../runtime/define/plugin.ts'
import type { Args, Tool, ToolContext, ToolResult } from '../../../runtime/define/tool.ts'
import { deferred, type Deferred } from '../../../util/deferred.ts'
import type { Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'
import type { Fate } from '../fate.ts'
import type { Body, Witness } from '../witness.ts'

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
  readonly process: number
  readonly hanging: Hanging
  /** Nothing befalls it. */
  readonly isGood: boolean
}

/** The tool, whose bodies are seen and have moods. */
export function moodyTool(tool: Tool, options: ToolMoodOptions): Tool {
  return { ...tool, run: (args, context) => runMoody(tool, args, context, options) }
}

/** The plugin, whose tools are seen and have moods. */
export function withMoodyTools(plugin: Plugin, options: ToolMoodOptions): Plugin {
  return {
    name: plugin.name,
    setup: (scope) => plugin.setup({ ...scope, tool: (tool) => scope.tool(moodyTool(tool, options)) }),
  }
}

async function runMoody(
  tool: Tool,
  args: Args,
  context: ToolContext,
  { fate, seen, process, hanging, isGood }: ToolMoodOptions,
): Promise<ToolResult> {
  const { call, fence, idempotencyKey: key } = context
  const body: Body = { tool: tool.name, effect: tool.effect, call, fence, key, args, process, ended: false }
  const mood = isGood ? 'plain' : (fate.decide(`tool ${tool.name}`, 'plain' as Json, draw) as BodyMood)
  seen.began(body)
  try {
    await before(mood, body, context, hanging)
    const result = await tool.run(args, context)
    if (mood === 'hangs-after') await letGo(body, hanging)
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
