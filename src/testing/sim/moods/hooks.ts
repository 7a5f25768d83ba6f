/** A plugin beside the agent's own: it takes its time, fails and falls silent, rejects, refuses, injects, vetoes, asks, denies and rewrites. */
import type { CallDecision, HookContext, Hooks, Plugin } from '../../../runtime/define/plugin.ts'
import type { Clock } from '../../../runtime/ports.ts'
import type { Json } from '../../../util/json.ts'
import type { Chance } from '../chance.ts'
import type { Fate } from '../fate.ts'

export interface MoodyPluginOptions {
  readonly fate: Fate
  readonly clock: Clock
}

/** What a hook does: after so long, it throws, says nothing for as long as it may, or answers; null: nothing. */
type Mood = null | { readonly ms?: number; readonly throws?: true; readonly silent?: true; readonly says?: Json }

type Entering = Parameters<Hooks['decideEnter']>[0]

export function moodyPlugin({ fate, clock }: MoodyPluginOptions): Plugin {
  const ask = (name: string, probability: number, says: (chance: Chance) => Json): Mood =>
    fate.decide<Json>(`hook ${name}`, null, (chance) => draw(chance, probability, says)) as Mood
  const answer = async <T>(mood: Mood, context: HookContext): Promise<T | undefined> => {
    if (mood?.ms !== undefined) await new Promise<void>((resolve) => clock.after(mood.ms!, resolve))
    if (mood?.silent === true) await untilAborted(context.signal)
    if (mood?.throws === true) throw new Error('the hook failed')
    return mood?.says as T | undefined
  }
  const hook = <T>(
    name: string,
    context: HookContext,
    probability: number,
    says: (chance: Chance) => Json,
  ): undefined | Promise<T | undefined> => {
    const mood = ask(name, probability, says)
    return mood === null ? undefined : answer<T>(mood, context)
  }
  return {
    name: 'moody',
    setup(scope) {
      scope.on('decideEnter', (gate, context) => hook('enter', context, 0.06, (chance) => entering(gate, chance)))
      scope.on('injectContext', (_gate, context) =>
        hook('inject', context, 0.05, () => [{ type: 'text', text: 'by the way' }]),
      )
      scope.on('decideStop', (_stop, context) => hook('stop', context, 0.2, () => ({ veto: 'go on' })))
      scope.on('decideCall', ({ record }, context) => hook<CallDecision>(`call ${record.name}`, context, 0.1, deciding))
      scope.on('transformRequest', (_options, context) => hook('request', context, 0.02, () => ({ temperature: 0 })))
      scope.on('decideModelError', (_error, context) =>
        hook('error', context, 0.1, (chance) => ({ retryInMs: chance.pick([null, 0, 2_000]) })),
      )
      scope.on('transformResult', (end, context) =>
        hook(`result ${context.call.name}`, context, 0.02, () => end as unknown as Json),
      )
    },
  }
}

function draw(chance: Chance, probability: number, says: (chance: Chance) => Json): Json {
  const ms = chance.is(0.1) ? { ms: chance.below(300) } : {}
  if (chance.is(0.01)) return { ...ms, throws: true }
  if (chance.is(0.003)) return { ...ms, silent: true }
  if (chance.is(probability)) return { ...ms, says: says(chance) }
  return 'ms' in ms ? ms : null
}

function entering({ inputs }: Entering, chance: Chance): Json {
  if (chance.is(0.2)) return { refuse: 'not now' }
  return inputs.length === 0 ? {} : { reject: { [chance.pick(inputs).id]: 'not this' } }
}

/** Rewrites nothing: what fits the tool, only its author knows. */
function deciding(chance: Chance): Json {
  return chance.pick<CallDecision>([
    { kind: 'deny', reason: 'no' },
    { kind: 'ask', reason: 'may it?', expiresInMs: 5_000 },
    { kind: 'ask', reason: 'really?' },
    { kind: 'allow' },
  ]) as Json
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
