/** A model that follows a script. */
import { TurnstepError } from '../../kernel/errors.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Route } from '../../kernel/message.ts'
import type { Clock, Model, ModelEnd, ModelRequest } from '../../runtime/ports.ts'
import { messageOf } from '../../util/text.ts'
import { Cursor, type CursorMode, type PickedStep } from './cursor.ts'
import { sameRoute } from '../route.ts'
import { complaints, type ReplaySeen } from './expect.ts'
import { Playback } from './play.ts'
import { replayProblem } from './replay.ts'
import type { Script } from './script.ts'
import type { RequestView } from './view.ts'

/** How a script is played. Times are milliseconds. */
export interface ScriptedOptions {
  /** Model name in its route. */
  readonly name?: string
  /** For `delayMs` and the idle timeout. Without one a script that needs it fails. */
  readonly clock?: Clock
  /** Ends a stalled step; without it only the abort does. */
  readonly idleTimeoutMs?: number
  readonly cursor?: CursorMode
  readonly binding?: Model['binding']
  readonly contextTokens?: number
  readonly scope?: string
}

/** Where a script and a run did not agree. */
export interface ScriptFailure {
  readonly session: SessionId
  readonly step: string
  readonly message: string
}

/** A model that follows a script, and remembers what it was asked and what did not fit. */
export interface ScriptedModel extends Model {
  /** Calls that no step expected, and expectations that did not hold, oldest first. */
  readonly failures: readonly ScriptFailure[]
  /** The requests that came, oldest first; the last thousand. */
  readonly requests: readonly ModelRequest[]
  /** Throws `script-failed` if there are failures, or steps that nobody consumed. */
  verify(): void
}

const REQUESTS_MAX = 1000

/**
 * Makes a model that answers as the script says, and fails (`failure.kind` `script`) where a request is not as the script expects.
 * No part of it looks at the whole history, unless a step asks for that.
 */
export function scriptedModel(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  const route: Route = {
    adapter: 'scripted',
    wire: 'none',
    provider: 'scripted',
    model: options.name ?? 'script',
    scope: options.scope ?? 'default',
  }
  const cursor = new Cursor(script, options.cursor ?? 'calls')
  const failures: ScriptFailure[] = []
  const requests: ModelRequest[] = []

  const settings = { clock: options.clock ?? null, idleTimeoutMs: options.idleTimeoutMs ?? null }

  const pickFor = (request: ModelRequest): PickedStep | ModelEnd => {
    requests.push(request)
    if (requests.length > REQUESTS_MAX) requests.shift()
    const pick = cursor.pick(request)
    const problems = pick === null ? [unexpected(request)] : problemsOf(pick, route, options)
    if (pick !== null && problems.length === 0) return pick
    const step = pick?.label ?? 'no step'
    for (const message of problems) failures.push({ session: request.session, step, message })
    return scriptEnd(`${step}: ${problems.join('; ')}`)
  }

  const judge = (request: ModelRequest): PickedStep | ModelEnd => {
    try {
      return pickFor(request)
    } catch (error) {
      // A function of the script's author threw: the script is wrong, and the stream must not throw.
      return scriptEnd(`the script threw: ${messageOf(error)}`)
    }
  }

  return {
    route,
    binding: options.binding ?? 'none',
    contextTokens: options.contextTokens ?? null,
    failures,
    requests,
    stream: (request, signal) => new Playback(judge, request, signal, settings),
    verify() {
      const problems = failures.map((failure) => `session "${failure.session}", ${failure.step}: ${failure.message}`)
      for (const step of cursor.unplayed()) problems.push(`${step} was never played`)
      if (problems.length > 0)
        throw new TurnstepError('script-failed', `the script and the run do not agree: ${problems.join('; ')}`, {
          data: problems,
        })
    },
  }
}

function problemsOf({ step, view, previous }: PickedStep, route: Route, { clock }: ScriptedOptions): string[] {
  const problems =
    step.expect === undefined ? [] : complaints(step.expect, view, { replays: replaysOf(route), previous })
  if (clock === undefined && (step.stream?.delayMs ?? 0) > 0) {
    problems.push('the step has delayMs and the model has no clock: pass { clock }')
  }
  return problems
}

const replaysOf =
  (route: Route) =>
  (view: RequestView): readonly ReplaySeen[] =>
    view.assistants.map((message) => ({
      isThere: message.replay !== undefined && sameRoute(message.replay.route, route),
      problem: replayProblem(message),
    }))

function unexpected(request: ModelRequest): string {
  const last = request.messages.at(-1)
  return `no step expects this call: ${request.messages.length} messages, the last by "${last?.role ?? 'nobody'}"; add a step, or find out who calls`
}

function scriptEnd(message: string): ModelEnd {
  return { type: 'end', kind: 'error', failure: { kind: 'script', message, retry: false }, usage: null }
}
