/**
 * Which step answers, and what of the script has been played.
 * Owns: the position of each session, and what was consumed. Not: whether the request is as expected.
 * 1. A step with `when` answers by content, the first that matches; `once` retires it for its session.
 * 2. The others are played in order. The position moves only when a step was delivered whole or its fault fired.
 */
import type { SessionId } from '../../kernel/ids.ts'
import type { ModelRequest } from '../../runtime/ports.ts'
import { matches } from './match.ts'
import type { Script, ScriptStep } from './script.ts'
import { RequestView } from './view.ts'

/**
 * How the steps without `when` find their place. `calls`: counted in this process. `context`: by the replies that stand in the
 * context, so that another process goes on where this one stopped; faults that fired are remembered in this process only.
 */
export type CursorMode = 'calls' | 'context'

export interface PickedStep {
  readonly step: ScriptStep
  /** Names the step in messages and replay state. */
  readonly label: string
  readonly view: RequestView
  /** The session's request before this one. */
  readonly previous: ModelRequest | null
  /** The step was delivered, or its fault fired. */
  consume(): void
}

interface Track {
  position: number
  attempt: number
  previous: ModelRequest | null
  readonly retired: Set<ScriptStep>
}

export class Cursor {
  readonly #script: Script
  readonly #ordered: readonly ScriptStep[]
  readonly #byContent: readonly ScriptStep[]
  readonly #mode: CursorMode
  readonly #sessions = new Map<SessionId, Track>()
  readonly #played = new Set<ScriptStep>()

  constructor(script: Script, mode: CursorMode) {
    const steps = typeof script === 'function' ? [] : script
    this.#script = script
    this.#ordered = steps.filter((step) => step.when === undefined)
    this.#byContent = steps.filter((step) => step.when !== undefined)
    this.#mode = mode
  }

  /** The step that answers this request, or null. Counts the attempt. */
  pick(request: ModelRequest): PickedStep | null {
    const track = this.#track(request.session)
    const previous = track.previous
    track.attempt = previous !== null && sameRequest(previous, request) ? track.attempt + 1 : 1
    track.previous = request
    const view = new RequestView(request, track.attempt)
    const step = this.#choose(track, view)
    if (step === null) return null
    return { step, label: this.#label(step, track), view, previous, consume: () => this.#consume(track, step) }
  }

  /** Steps that never answered and are not optional. */
  unplayed(): string[] {
    if (typeof this.#script === 'function') return []
    return this.#script.flatMap((step, index) =>
      step.optional === true || this.#played.has(step) ? [] : [step.name ?? `step ${index + 1}`],
    )
  }

  #choose(track: Track, view: RequestView): ScriptStep | null {
    if (typeof this.#script === 'function')
      return this.#script(view.request, { position: track.position, attempt: view.attempt })
    for (const step of this.#byContent) {
      if (!track.retired.has(step) && matches(step.when!, view)) return step
    }
    return (this.#mode === 'calls' ? this.#ordered[track.position] : this.#byContext(track, view)) ?? null
  }

  /** Passes the steps that left a reply in the context, one for each that is there, then the faults that fired already. */
  #byContext(track: Track, view: RequestView): ScriptStep | undefined {
    let replies = view.assistants.length
    for (const step of this.#ordered) {
      if (leavesReply(step)) {
        if (replies === 0) return step
        replies--
      } else if (replies === 0 && !track.retired.has(step)) return step
    }
    return undefined
  }

  #consume(track: Track, step: ScriptStep): void {
    this.#played.add(step)
    if (step.when === undefined) track.position++
    if (step.once === true || (step.when === undefined && !leavesReply(step))) track.retired.add(step)
  }

  #label(step: ScriptStep, track: Track): string {
    if (step.name !== undefined) return step.name
    return typeof this.#script === 'function' ? `call ${track.position + 1}` : `step ${this.#script.indexOf(step) + 1}`
  }

  #track(session: SessionId): Track {
    let track = this.#sessions.get(session)
    if (track === undefined) {
      track = { position: 0, attempt: 0, previous: null, retired: new Set() }
      this.#sessions.set(session, track)
    }
    return track
  }
}

/** Whether the step's reply gets into the context: it was delivered, and said something. */
function leavesReply(step: ScriptStep): boolean {
  return step.fault === undefined && (step.emit ?? []).some((part) => !('reasoning' in part))
}

/** The same request again: an attempt. A context only grows, so its last message tells. */
function sameRequest(one: ModelRequest, other: ModelRequest): boolean {
  return (
    one.messages.length === other.messages.length &&
    one.messages.at(-1) === other.messages.at(-1) &&
    one.system === other.system &&
    one.toolChoice === other.toolChoice
  )
}
