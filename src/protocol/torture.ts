/**
 * What `turnstep torture` reports, and what it gives to a check. A report is one line of `--json`; within a version of those lines
 * fields and kinds are only added.
 */
import type { EffectClass, Event } from '../kernel/events.ts'
import type { OutcomeKind, TurnOutcome } from '../kernel/outcome.ts'

/** A call of a run, as the two witnesses have it: the log its outcome, the wrapper of its body how often that began and ended. */
export interface TortureCall {
  readonly id: string
  readonly tool: string
  readonly effect: EffectClass
  /** What its body got as `idempotencyKey`; null: no body began. */
  readonly key: string | null
  readonly args: unknown
  /** Bodies that began and that came back, over all processes of the run. */
  readonly begun: number
  readonly ended: number
  /** Null: it has none. */
  readonly outcome: OutcomeKind | null
}

/** A run that is over, for a check: all of its processes have ended. */
export interface TortureRun {
  /** Where its processes ran, and where the check runs too. */
  readonly folder: string
  /** Where it was hit; null: it was left alone. */
  readonly moment: string | null
  readonly calls: readonly TortureCall[]
  /** Its log. */
  readonly events: readonly Event[]
}

/**
 * Looks at the outside world after a run. Contract: called once, in a process of its own in the folder of the run; reads only;
 * every text that it gives is a complaint, and so is what it throws.
 */
export type TortureCheck = (
  run: TortureRun,
) =>
  | readonly string[]
  | string
  | null
  | undefined
  | void
  | Promise<readonly string[] | string | null | undefined | void>

/** What is wrong with a run. */
export type TortureComplaint =
  /** A `write` began more than once (C4). */
  | { readonly kind: 'doubled'; readonly tool: string; readonly call: string; readonly times: number }
  /** The starts of one call were given different keys. */
  | { readonly kind: 'key-changed'; readonly tool: string; readonly call: string; readonly keys: readonly string[] }
  /** A body began whose start is not in the log (C3). */
  | { readonly kind: 'unrecorded'; readonly tool: string; readonly call: string }
  /** It was accepted and is in no log and no queue (I1). */
  | { readonly kind: 'input-lost'; readonly input: string }
  | { readonly kind: 'input-doubled'; readonly input: string; readonly times: number }
  /** It still waits although the session has nothing left to do (I6). */
  | { readonly kind: 'input-waiting'; readonly input: string; readonly lane: string }
  | { readonly kind: 'log-damaged'; readonly seq: number; readonly problem: string }
  | { readonly kind: 'rule-broken'; readonly seq: number; readonly rule: string; readonly problem: string }
  /** A request that no provider would take; `at`: which of its messages. */
  | { readonly kind: 'request-broken'; readonly seq: number; readonly at: number; readonly problem: string }
  /** The session did not come to rest. */
  | { readonly kind: 'not-at-rest'; readonly status: string }
  /** A process could not go on with it. */
  | { readonly kind: 'not-resumed'; readonly process: number; readonly problem: string }
  /** A fault that the undisturbed run did not have, such as a hook that throws. */
  | { readonly kind: 'fault'; readonly process: number; readonly problem: string }
  | {
      readonly kind: 'call-changed'
      readonly tool: string
      readonly call: string
      readonly was: string
      readonly is: string
    }
  | { readonly kind: 'turn-changed'; readonly turn: number; readonly was: string; readonly is: string }
  /** The run tells another story than the undisturbed one, and no unknown outcome explains it. */
  | { readonly kind: 'story-changed'; readonly was: string; readonly is: string }
  /** The agent was another one after the restart. */
  | {
      readonly kind: 'agent-changed'
      readonly gone: readonly string[]
      readonly added: readonly string[]
      readonly altered: readonly string[]
      readonly instructions: boolean
    }
  | { readonly kind: 'lease-left'; readonly owner: string }
  /** A body that was told to stop, and was still at work when its process had nothing else to do. */
  | { readonly kind: 'body-left'; readonly tool: string; readonly call: string }
  /** Timers, servers and the like that keep a process alive that is done, by Node's name for them. */
  | { readonly kind: 'handle-left'; readonly handle: string; readonly count: number }
  | { readonly kind: 'process-left'; readonly pid: number; readonly command: string }
  /** A file that the undisturbed run does not leave. */
  | { readonly kind: 'file-left'; readonly path: string }
  /** The module drove a session of its own, in that database, as soon as it was loaded. */
  | { readonly kind: 'opened-on-load'; readonly path: string }
  /** No body of it ran, so nothing of it was tried. */
  | { readonly kind: 'never-ran'; readonly tool: string; readonly why: string }
  /** What the check said. */
  | { readonly kind: 'check'; readonly text: string }

/** A complaint as it is reported. A run fails for a `fault`; a `note` is for people. */
export type TortureFinding = TortureComplaint & { readonly weight: 'fault' | 'note'; readonly message: string }

/** One run that was hit. */
export interface TortureResult {
  /** Where it was to be hit; two of them joined by `+`: its second process was hit as well. */
  readonly moment: string
  /** `missed`: the moment did not come, so this run proves nothing. */
  readonly verdict: 'passed' | 'failed' | 'missed'
  /** Where its processes were really hit, the first one first; `seq` and `event`: the last event that was in the log then. */
  readonly hits: readonly { readonly moment: string; readonly seq: number; readonly event: string | null }[]
  readonly findings: readonly TortureFinding[]
  /** Calls whose body began more than once. */
  readonly again: number
  readonly ms: number
  /** Where all of it is kept; null: it is gone. */
  readonly folder: string | null
}

/** All that a torture found. */
export interface TortureReport {
  readonly module: string
  readonly agent: string
  /** `bodies`: how often it ran in the undisturbed run. */
  readonly tools: readonly { readonly name: string; readonly effect: EffectClass; readonly bodies: number }[]
  /** Who answers: the built-in script, one that was given, or the agent's own model. */
  readonly model: 'default' | 'script' | 'own'
  readonly seed: number
  readonly undisturbed: {
    readonly turns: readonly TurnOutcome['kind'][]
    readonly steps: number
    readonly calls: number
    readonly ms: number
    /** Two undisturbed runs told the same story; false: comparisons with it are left out. */
    readonly alike: boolean
    readonly findings: readonly TortureFinding[]
  }
  readonly results: readonly TortureResult[]
  readonly totals: {
    /** Moments that the undisturbed run has. */
    readonly moments: number
    readonly runs: number
    readonly passed: number
    readonly failed: number
    readonly missed: number
    /** Processes that were killed. */
    readonly kills: number
  }
  /** How to see the first failure again. */
  readonly reproduce: string | null
  readonly ms: number
  readonly exit: number
}
