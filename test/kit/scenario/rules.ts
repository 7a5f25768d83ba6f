/** A plugin whose hooks say what a scenario tells them to: the gate, the policy, the stop, the retry. */
import type { CallDecision, Hooks, Plugin } from '../../../src/runtime/define/plugin.ts'
import { textOf } from '../../../src/kernel/message.ts'

type Entering = Awaited<ReturnType<Hooks['decideEnter']>>

export class Rules {
  /** Some rule was set before the session was opened: the plugin is loaded. */
  used = false
  /** A hook of this name never answers. */
  hanging: string | null = null
  /** A hook of this name throws. */
  throwing: string | null = null
  refuse: string | null = null
  reject: { readonly word: string; readonly reason: string } | null = null
  inject: string | null = null
  veto: { left: number; readonly message: string } | null = null
  retryInMs: number | null | undefined
  readonly policy = new Map<string, CallDecision>()

  readonly plugin: Plugin = {
    name: 'rules',
    setup: (scope) => {
      scope.on('decideEnter', ({ inputs }) => this.#answer('gate', () => this.#entering(inputs)))
      scope.on('injectContext', () => (this.inject === null ? undefined : [{ type: 'text', text: this.inject }]))
      scope.on('transformRequest', () => this.#answer('request', () => undefined))
      scope.on('decideCall', ({ record }) => this.#answer('policy', () => this.policy.get(record.name)))
      scope.on('decideStop', () => this.#answer('stop', () => this.#stopping()))
      scope.on('decideModelError', () =>
        this.#answer('retry', () => (this.retryInMs === undefined ? undefined : { retryInMs: this.retryInMs })),
      )
    },
  }

  #answer<T>(hook: string, answer: () => T): T | Promise<never> {
    if (this.throwing === hook) throw new Error(`${hook} is out of order`)
    return this.hanging === hook ? new Promise<never>(() => {}) : answer()
  }

  #entering(inputs: Parameters<Hooks['decideEnter']>[0]['inputs']): Entering {
    const { reject, refuse } = this
    const rejected = inputs.filter((input) => reject !== null && textOf(input.content).includes(reject.word))
    return {
      reject: Object.fromEntries(rejected.map((input) => [input.id, reject!.reason])),
      ...(refuse === null ? {} : { refuse }),
    }
  }

  #stopping(): { readonly veto: string } | undefined {
    if (this.veto === null || this.veto.left <= 0) return undefined
    this.veto.left--
    return { veto: this.veto.message }
  }
}
