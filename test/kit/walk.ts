/** Random walks through what is legal: every log that a runner, good or bad, could have written. */
import type { Draft } from '../../src/kernel/events.ts'
import { noUsage } from '../../src/kernel/failure.ts'
import { inputId } from '../../src/kernel/ids.ts'
import type { Call } from '../../src/kernel/state.ts'
import { Chance } from '../../src/testing/sim/chance.ts'
import { CONTENT, entered, log, text, type Asked, type Log } from './log.ts'

/** What gets a session on is tried more often than what stops it or is beside the point. */
function weightOf({ type }: Draft): number {
  if (type.startsWith('call.')) return type === 'call.ended' ? 3 : 10
  if (['model.requested', 'reply.completed', 'step.started', 'step.ended', 'turn.started'].includes(type)) return 12
  return type === 'input.entered' ? 3 : 1
}

/** So many steps from a seed; each takes one of the events that are legal then. */
export function walk(seed: number, steps: number): Log {
  const chance = new Chance(seed)
  const walked = log().open()
  for (let taken = 0; taken < steps; taken++) {
    // A crash is always possible: the next one writes under a higher fence.
    if (chance.is(0.05)) walked.fence++
    const legal = candidates(walked, chance.below(1_000)).filter((draft) => walked.refusal(draft) === null)
    if (legal.length > 0) walked.add(chance.weighted(legal.map((draft) => [weightOf(draft), draft] as const)))
  }
  return walked
}

/** Events worth trying; most are illegal at any moment. */
function candidates(walked: Log, choice: number): Draft[] {
  const { state } = walked
  const name = `i${state.seq}`
  const calls = state.step?.calls ?? []
  return [
    { type: 'turn.started', trigger: 'input', limits: { steps: 1 + (choice % 4), stepPolicy: 'summary', vetoes: 1 } },
    entered(name, `text ${choice}`),
    { ...entered(name), lane: 'steer', origin: { kind: 'steer' } } as Draft,
    { type: 'input.rejected', input: inputId(name), lane: 'followup', reason: 'no' },
    { type: 'step.started', purpose: choice % 5 === 0 ? 'limit' : 'step' },
    walked.request(),
    walked.reply(batch(choice), choice % 3 === 0 ? '' : `words ${choice}`),
    { ...walked.reply(batch(choice), 'half'), finish: choice % 2 === 0 ? 'max-tokens' : 'refused' } as Draft,
    {
      type: 'model.failed',
      attempt: state.step?.request?.attempt ?? 1,
      failure: { kind: 'server', message: 'm', retry: true },
      retryAt: choice % 4 === 0 ? null : 1,
      text: '',
      usage: noUsage,
    },
    {
      type: 'reply.interrupted',
      attempt: state.step?.request?.attempt ?? 1,
      reason: 'crashed',
      text: 'so',
      usage: noUsage,
      retryAt: 1,
      note: text('it had begun'),
    },
    ...calls.flatMap((call) => callEvents(call, choice)),
    ...[...state.stragglers.keys()].map((call): Draft => ({
      type: 'call.ended-late',
      call,
      outcome: { kind: 'ok' },
      content: text('late'),
      input: inputId(name),
    })),
    { type: 'step.ended' },
    { type: 'stop.vetoed', by: 'plugin', content: text('not yet') },
    { type: 'turn.abort-asked', input: inputId(name), reason: 'stop', pending: 'keep', until: walked.now },
    ...ends(),
    { type: 'session.resumed', input: inputId(name) },
    { type: 'epoch.started', n: (state.epoch?.n ?? 0) + 1, reason: 'changed', content: { ...CONTENT, hash: name } },
    {
      type: 'context.compacted',
      upTo: 1 + (choice % Math.max(1, state.context.length)),
      summary: text('s'),
      usage: noUsage,
    },
    { type: 'x.plugin.fact', data: choice },
  ]
}

function batch(choice: number): Asked[] {
  const effects = ['read', 'idempotent', 'write'] as const
  return Array.from({ length: choice % 4 }, (_, index) => ({
    name: `tool${(choice + index) % 3}`,
    effect: effects[(choice + index) % 3]!,
    resources: [{ name: (choice + index) % 2 === 0 ? 'a' : 'b', mode: index % 2 === 0 ? 'read' : 'write' }],
    broken: (choice + index) % 13 === 0,
  }))
}

function callEvents({ record, attempt }: Call, choice: number): Draft[] {
  const call = record.id
  const ended = (outcome: Extract<Draft, { type: 'call.ended' }>['outcome']): Draft => ({
    type: 'call.ended',
    call,
    outcome,
    content: text(`${choice}`),
    progress: `${choice % 2}`,
  })
  return [
    { type: 'call.started', call, attempt: attempt + 1 },
    { type: 'call.approval-asked', call, argsHash: 'h', reason: 'why', expiresAt: choice },
    {
      type: 'call.approval-decided',
      call,
      decision: choice % 2 === 0 ? 'allow' : 'deny',
      by: { kind: 'user' },
      grant: choice % 3 === 0 ? 'session' : 'once',
      input: inputId(`d${choice}`),
    },
    { type: 'call.deferred', call, what: 'w' },
    ended({ kind: 'ok' }),
    ended({ kind: 'error', code: 'failed', message: 'm' }),
    ended({ kind: 'timeout', afterMs: 1 }),
    ended({ kind: 'unknown', reason: 'crashed' }),
    ended({ kind: 'not-started', reason: 'aborted' }),
    ended({ kind: 'denied', by: 'user', reason: '' }),
    ended({ kind: 'intercepted', by: 'loop-guard', message: 'm', times: 2 }),
  ]
}

function ends(): Draft[] {
  return (
    [
      { kind: 'completed' },
      { kind: 'max-tokens', limit: 'output' },
      { kind: 'step-limit', how: 'error', steps: 1 },
      { kind: 'aborted', reason: 'stop' },
      { kind: 'blocked', reason: 'r' },
    ] as const
  ).map((outcome) => ({ type: 'turn.ended', outcome, goal: 'unchecked' }))
}
