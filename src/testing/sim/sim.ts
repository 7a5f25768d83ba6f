/** The words of the simulator: what users write for it, and what it answers. */
import type { EffectClass, Event } from '../../kernel/events.ts'
import type { Lane } from '../../kernel/input.ts'
import type { StateView } from '../../kernel/state.ts'
import type { AgentSpec } from '../../runtime/define/agent.ts'
import type { Args } from '../../runtime/define/tool.ts'
import type { Clock, ModelRequest, Store } from '../../runtime/ports.ts'
import type { SessionHandle } from '../../runtime/session.ts'
import type { Json } from '../../util/json.ts'
import type { Chance } from './chance.ts'

/**
 * One thing that happens: a number to call it by, what it is, and its particulars. `[3, "wait", 400]` lets milliseconds pass. The numbers
 * rise; some may be missing.
 */
export type SimMove = readonly [number: number, name: string, params: Json]

/**
 * A choice that was not calm: the move behind which it was made (0: before the first), the question, and the answer. ` ~2` behind a question:
 * when it was asked for the second time since that move.
 */
export type SimDecision = readonly [behind: number, question: string, answer: Json]

/** A run, written down: replays without a seed. Whatever it does not mention is calm. */
export interface SimScenario {
  /** The rule that it breaks, or once broke. */
  readonly rule: string
  readonly moves: readonly SimMove[]
  readonly decisions: readonly SimDecision[]
}

/** What is simulated, and how much of it. */
export interface SimulateOptions {
  /**
   * The agent, or what makes it: called once per run, so that what it closes over is the run's own. All processes of a run open
   * the agent that it returns. A model given by name is replaced by one that says and calls whatever a model may; a model object is asked
   * as it is. Contract: what its bodies and hooks wait for are promises, and the clock they are given; nothing else.
   */
  readonly agent: AgentSpec | ((world: SimWorld) => AgentSpec)
  /** How many runs. Default 20. */
  readonly seeds?: number
  /** The first seed; the others follow. Default 1. */
  readonly from?: number
  /** How many moves each run has, waiting aside. Default 80. */
  readonly moves?: number
  /** Makes the store of a run. Default: one in memory. Contract: it needs nothing but promises to do its work. */
  readonly store?: (clock: Clock) => Store
  /**
   * What does not happen: names of moves (`send`, `steer`, `note`, `edit`, `withdraw`, `move`, `convert`, `again`, `abort`, `resume`, `approve`,
   * `deny`, `answer`, `start`, `kill`, `close`, `freeze`, `cut`, `fill`, `let-go`) and of moods (`model`, `tools`, `hooks`, `store`, `sync`, `prefix`).
   */
  readonly without?: readonly string[]
  /** After so many failing seeds no more are run. Default 3. */
  readonly failuresMax?: number
  /** Whether failures are made small. Default true. */
  readonly shrink?: boolean
}

/** What came of a simulation. */
export interface SimReport {
  /** Seeds that were run. */
  readonly seeds: number
  /** Events that became durable in them. */
  readonly events: number
  readonly failures: readonly SimFailure[]
}

/** A rule that was broken, and how to see it again. */
export interface SimFailure extends SimFault {
  readonly seed: number
  /** As small as it could be made. Keep it as JSON and `replay` it. */
  readonly scenario: SimScenario
  /** The scenario as it went, line by line. */
  readonly story: string
}

/** What is broken, and how it was seen. */
export interface SimFault {
  /** Number in CONTRACT.md, or the name of a check of yours. */
  readonly rule: string
  readonly message: string
}

/** One run, told to who makes its agent. */
export interface SimWorld {
  /** Of the whole run: it goes on while processes die. */
  readonly clock: Clock
  /** Nothing goes wrong any more: the session is being brought to rest. */
  readonly isCalm: boolean
  /**
   * A choice of the outside world, such as what a service answers. `choose` draws it; `calm` is what it is where nothing special
   * happens. Contract: `question` says what is asked and has no number that counts on; every value is JSON.
   */
  decide<T extends Json>(question: string, calm: T, choose: (chance: Chance) => T): T
  /** Adds a check of your own to this run. */
  check(check: SimCheck): void
  /** Adds something that may happen in this run. */
  action(action: SimAction): void
  /** How the arguments of a tool are drawn where its schema says too little. */
  args(tool: string, draw: (chance: Chance) => Args): void
}

/** Something that may happen. */
export interface SimAction {
  readonly name: string
  /** How often, beside the others; a followup has 6. */
  readonly weight: number
  /** With which particulars it would happen now; null: it cannot. Contract: draws from `chance` alone, changes nothing. */
  propose(stage: SimStage, chance: Chance): Json
  /** Does it. Contract: acts by `params` alone; does nothing if what they name is not there. What is a `TurnstepError` is no fault. */
  perform(stage: SimStage, params: Json): Promise<unknown> | void
}

/** What an action can reach. */
export interface SimStage {
  /** The session as somebody elsewhere has it: posts, reads, drives nothing. */
  readonly session: SessionHandle
  readonly seen: SimSeen
  readonly clock: Clock
  /** A name that nothing has had in this run. */
  fresh(prefix: string): string
}

/** Something that must hold. Each function is optional; what does not hold is told by `seen.fail`, or by a throw. */
export interface SimCheck {
  readonly name: string
  /** After each event: it is durable, and `seen.state` has it. */
  event?(event: Event, seen: SimSeen): void
  /** The body of a tool begins. */
  body?(body: SimBody, seen: SimSeen): void
  /** The model is asked. */
  request?(request: ModelRequest, seen: SimSeen): void
  /** After each move, when all that could go on has. */
  moment?(seen: SimSeen): void | Promise<void>
  /** At rest: everything was answered, nothing is wrong any more. What a body still does then, it has time for: see `still running` in the guide. */
  end?(seen: SimSeen): void | Promise<void>
}

/** What a run has come to, as an observer sees it who misses nothing. */
export interface SimSeen {
  /** The fold of all that is durable. */
  readonly state: StateView
  readonly log: readonly Event[]
  /** What is pending, in order of arrival. */
  readonly inbox: readonly SimInput[]
  readonly bodies: readonly SimBody[]
  /** Of the newest lease. */
  readonly fence: number
  readonly now: number
  /** Since when the process that holds the lease has been well, with a store that does as it is told; null: it is not, or there is none. */
  readonly steadySince: number | null
  fail(rule: string, message: string): void
}

/** An input that waits. */
export interface SimInput {
  readonly id: string
  readonly lane: Lane
  /** The log's tail when it arrived. */
  readonly tail: number
}

/** A body at work, or one that was. */
export interface SimBody {
  readonly tool: string
  readonly effect: EffectClass
  readonly call: string
  readonly fence: number
  readonly key: string
  readonly args: Args
  readonly process: number
  /** It came back, or threw. */
  readonly ended: boolean
}
