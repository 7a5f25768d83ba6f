/** Logs written by hand: each event is stamped and folded as a runner would. */
import type {
  CallRecord,
  Draft,
  EffectClass,
  Event,
  EventHead,
  EpochContent,
  EventOf,
  ResourceUse,
  TurnLimits,
} from '../../src/kernel/events.ts'
import { noUsage } from '../../src/kernel/failure.ts'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import { callId, inputId, type CallId } from '../../src/kernel/ids.ts'
import { refusal, type RuleBreak } from '../../src/kernel/legality.ts'
import type { Part } from '../../src/kernel/message.ts'
import type { CallOutcome, TurnOutcome } from '../../src/kernel/outcome.ts'
import { undeclaredResources } from '../../src/kernel/plan.ts'
import type { State } from '../../src/kernel/state.ts'

export const LIMITS: TurnLimits = { steps: 3, stepPolicy: 'summary', vetoes: 2 }

export const text = (value: string): readonly Part[] => [{ type: 'text', text: value }]

export const CONTENT: EpochContent = {
  system: 'Be brief.',
  tools: [],
  route: { adapter: 'scripted', wire: 'none', provider: 'none', model: 'm', scope: 'default' },
  hash: 'h',
}

/** A call to be asked for by a reply. */
export interface Asked {
  readonly name?: string
  readonly effect?: EffectClass
  readonly resources?: readonly ResourceUse[]
  /** Its arguments could not be read. */
  readonly broken?: boolean
  readonly fingerprint?: string
}

export const id = (value: string): CallId => callId(value)

export class Log {
  readonly events: Event[] = []
  readonly state: State = emptyState()
  fence = 1
  now = 1_000

  /** Takes an event in. Throws if it is illegal: the test is wrong then. */
  add(...drafts: readonly Draft[]): this {
    for (const draft of drafts) {
      const event = this.stamp(draft)
      const broken = fold(this.state, event)
      if (broken !== null) throw new Error(`${event.type} breaks ${broken.rule}: ${broken.problem}`)
      this.events.push(event)
    }
    return this
  }

  /** Why an event would be refused here; null: it would not be. */
  refusal(draft: Draft, head: Partial<EventHead> = {}): RuleBreak | null {
    return refusal(this.state, { ...this.stamp(draft), ...head })
  }

  stamp(draft: Draft): Event {
    const { turn, step, turnN } = this.state
    const begins = draft.type === 'turn.started'
    return {
      ...draft,
      seq: this.state.seq + 1,
      at: this.now++,
      fence: this.fence,
      turn: begins ? turnN + 1 : (turn?.n ?? 0),
      step: begins ? 0 : draft.type === 'step.started' ? (turn?.steps ?? 0) + 1 : (step?.n ?? turn?.steps ?? 0),
    }
  }

  // ── words ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  created(): this {
    return this.add({ type: 'session.created', format: 1, agent: 'agent', locale: 'en' })
  }

  /** A session with an epoch. */
  open(): this {
    return this.created().add({
      type: 'epoch.started',
      n: (this.state.epoch?.n ?? 0) + 1,
      reason: 'created',
      content: CONTENT,
    })
  }

  turn(limits: Partial<TurnLimits> = {}): this {
    return this.add({ type: 'turn.started', trigger: 'input', limits: { ...LIMITS, ...limits } })
  }

  entered(name: string, content = name): this {
    return this.add(entered(name, content))
  }

  step(purpose: 'step' | 'limit' = 'step'): this {
    return this.add({ type: 'step.started', purpose })
  }

  requested(): this {
    return this.add(this.request())
  }

  request(): EventOf<'model.requested'> {
    const { state } = this
    const isLimit = state.step?.purpose === 'limit'
    return {
      type: 'model.requested',
      attempt: (state.step?.requests ?? 0) + 1,
      purpose: isLimit ? 'limit' : 'step',
      messages: state.context.length + state.late.length,
      toolChoice: isLimit ? 'none' : 'auto',
    } as EventOf<'model.requested'>
  }

  /** A turn whose model was asked. */
  asked(limits: Partial<TurnLimits> = {}): this {
    return this.open().turn(limits).entered('go').step().requested()
  }

  said(words: string, more: Partial<EventOf<'reply.completed'>> = {}): this {
    return this.add({ ...this.reply([], words), ...more })
  }

  calls(...calls: readonly Asked[]): this {
    return this.add(this.reply(calls))
  }

  /** The reply of the step that is open. */
  reply(calls: readonly Asked[], words = ''): EventOf<'reply.completed'> {
    const { turn, step } = this.state
    const records = calls.map((call, index) => recordOf(`t${turn?.n ?? 0}s${step?.n ?? 0}c${index + 1}`, call))
    return {
      type: 'reply.completed',
      attempt: step?.request?.attempt ?? 1,
      finish: records.length > 0 ? 'calls' : 'done',
      rawFinish: 'stop',
      parts: [
        ...(words === '' ? [] : [{ type: 'text', text: words } as const]),
        ...records.map((record) => ({ type: 'call', call: record.id }) as const),
      ],
      calls: records,
      usage: noUsage,
    } as unknown as EventOf<'reply.completed'>
  }

  started(call: string, attempt = 1): this {
    return this.add({ type: 'call.started', call: id(call), attempt })
  }

  ended(call: string, outcome: CallOutcome = { kind: 'ok' }, content = 'result', progress?: string): this {
    return this.add({
      type: 'call.ended',
      call: id(call),
      outcome,
      content: text(content),
      ...(progress === undefined ? {} : { progress }),
    })
  }

  /** Starts and ends calls. */
  ran(...calls: readonly string[]): this {
    for (const call of calls) this.started(call).ended(call)
    return this
  }

  stepEnded(): this {
    return this.add({ type: 'step.ended' })
  }

  turnEnded(outcome: TurnOutcome = { kind: 'completed' }): this {
    return this.add({ type: 'turn.ended', outcome, goal: 'unchecked' })
  }

  aborted(name = 'stop it'): this {
    return this.add({
      type: 'turn.abort-asked',
      input: inputId(name),
      reason: 'stop',
      pending: 'keep',
      until: this.now + 5_000,
    })
  }

  failed(retryAt: number | null): this {
    const attempt = this.state.step!.request!.attempt
    return this.add({
      type: 'model.failed',
      attempt,
      failure: { kind: 'server', message: 'no', retry: true },
      retryAt,
      text: '',
      usage: noUsage,
    })
  }

  /** A whole step in which these calls ran. */
  worked(...calls: readonly Asked[]): this {
    this.step()
      .requested()
      .calls(...calls)
    return this.ran(...this.state.step!.calls.map((call) => call.record.id)).stepEnded()
  }
}

export function entered(name: string, content = name): EventOf<'input.entered'> {
  return {
    type: 'input.entered',
    input: inputId(name),
    lane: 'followup',
    origin: { kind: 'user' },
    content: text(content),
  } as EventOf<'input.entered'>
}

export function recordOf(
  call: string,
  { name = 'tool', effect = 'read', resources, broken = false, fingerprint = `${name}()` }: Asked,
): CallRecord {
  return {
    id: callId(call),
    name,
    rawArgs: broken ? '{' : '{}',
    ...(broken ? {} : { args: {} }),
    providerId: '',
    effect,
    resources: resources ?? undeclaredResources(effect),
    fingerprint,
  }
}

export const log = (): Log => new Log()
