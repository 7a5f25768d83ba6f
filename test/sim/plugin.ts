/** A plugin that takes its time, and then rejects, refuses, injects, vetoes, asks and denies as chance has it. */
import type { CallDecision, Plugin } from '../../src/runtime/define/plugin.ts'
import type { Clock } from '../../src/runtime/ports.ts'
import type { Chance } from '../kit/random.ts'

export function moodyPlugin(chance: Chance, clock: Clock, isCalm: () => boolean): Plugin {
  /** Mostly nothing, sometimes after a while, never after all is calm. */
  const sometimes = async <T>(probability: number, answer: () => T): Promise<T | undefined> => {
    if (isCalm()) return undefined
    if (chance.is(0.2)) await new Promise<void>((resolve) => clock.after(chance.below(300), resolve))
    return chance.is(probability) ? answer() : undefined
  }
  return {
    name: 'moody',
    setup(scope) {
      scope.on('decideEnter', ({ inputs }) =>
        sometimes(0.06, () => {
          if (chance.is(0.2)) return { refuse: 'not now' }
          return inputs.length === 0 ? {} : { reject: { [chance.pick(inputs).id]: 'not this' } }
        }),
      )
      scope.on('injectContext', () => sometimes(0.05, () => [{ type: 'text' as const, text: 'by the way' }]))
      scope.on('decideStop', () => sometimes(0.2, () => ({ veto: 'go on' })))
      scope.on('decideCall', () =>
        sometimes(0.1, () =>
          chance.pick<CallDecision>([
            { kind: 'deny', reason: 'no' },
            { kind: 'ask', reason: 'may it?', expiresInMs: 5_000 },
            { kind: 'allow', args: { n: 7 } },
          ]),
        ),
      )
      scope.on('transformRequest', () => sometimes(0.02, () => ({ temperature: 0 })))
      scope.on('transformResult', (end) => sometimes(0.02, () => end))
    },
  }
}
