/**
 * The fields of every event, as a table: what a log has to be checked by that does not come from a store of ours, since the fold
 * trusts the shape of events and looks only at their order. The types make the table follow `EventBody`.
 */
import type { CallRecord, EpochContent, EventBody, EventHead, GuardMode, TurnLimits } from '../kernel/events.ts'
import type { Failure, FailureKind, Usage } from '../kernel/failure.ts'
import type { Lane, MessageLane, PendingPolicy } from '../kernel/input.ts'
import type { Origin, Part, Replay, ReplyPart, Route } from '../kernel/message.ts'
import type { CallOutcome, Goal, NotStartedReason, TurnOutcome } from '../kernel/outcome.ts'
import { isPlainObject } from '../util/json.ts'
import {
  amount,
  count,
  flag,
  json,
  jsonObject,
  listOf,
  oneOf,
  optional,
  orNull,
  record,
  text,
  time,
  union,
  type Check,
  type Variants,
} from './shape.ts'

/**
 * What keeps a value from being an event; null: nothing. An event of a type that is not known here fits if it has a head: it is
 * kept and skipped (L6).
 */
export function shapeProblem(value: unknown): string | null {
  if (!isPlainObject(value)) return 'it is no object'
  if (isDeeper(value, DEPTH_MAX)) return `it is nested more than ${DEPTH_MAX} deep`
  const { type } = value
  if (typeof type !== 'string' || !TYPE.test(type)) return problemOf('', TYPED(type, 'type'))
  return problemOf(type, HEAD(value, '') ?? bodyProblem(type, value))
}

function bodyProblem(type: string, value: object): string | null {
  if (Object.hasOwn(BODIES, type)) return BODY(value, '')
  return type.startsWith('x.') ? FOREIGN(value, '') : null
}

function problemOf(type: string, problem: string | null): string | null {
  return problem === null || type === '' ? problem : `${type}: ${problem}`
}

/** Names are dotted; nothing that every object has by birth is. */
const TYPE = /^[^\s.]+(?:\.[^\s.]+)+$/
const TYPED: Check = (value, at) => text(value, at) ?? `${at} is ${JSON.stringify(value)}; it must be a dotted name`

/** Deeper than anything that a model or a tool says in earnest, and far from where recursion ends. */
const DEPTH_MAX = 200

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((item) => isDeeper(item, depth - 1))
}

/** A short language tag, as a catalog of texts is looked up by. */
const locale: Check = (value, at) =>
  typeof value === 'string' && /^[a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/.test(value)
    ? null
    : (text(value, at) ?? `${at} is ${JSON.stringify(value)}; it must be a language, such as en`)

const wholeTime: Check = (value, at) => count(value, at) ?? time(value, at)

const HEAD = record<EventHead>({ seq: count, at: wholeTime, fence: count, turn: count, step: count })
const FOREIGN = record<{ readonly data: unknown }>({ data: json })

const messageLanes: Readonly<Record<MessageLane, true>> = { steer: true, note: true, followup: true }
const messageLane = oneOf<MessageLane>(messageLanes)
const lane = oneOf<Lane>({ control: true, ...messageLanes })
const pending = oneOf<PendingPolicy>({ keep: true, return: true, drop: true })
const goal = oneOf<Goal>({ unchecked: true, met: true, unmet: true })

const origin = record<Origin>({
  kind: oneOf<Origin['kind']>({ user: true, steer: true, plugin: true, child: true, timer: true, system: true }),
  name: optional(text),
})
const route = record<Route>({ adapter: text, wire: text, provider: text, model: text, scope: text })
const parts = listOf(union<Part, 'type'>('type', { text: { text }, image: { mediaType: text, data: text } }))
const replyParts = listOf(
  union<ReplyPart, 'type'>('type', { text: { text }, reasoning: { text }, call: { call: text } }),
)
const replay = record<Replay>({
  state: text,
  route,
  binding: oneOf<Replay['binding']>({ none: true, prefix: true }),
  epoch: count,
})

const usage = record<Usage>({
  known: flag,
  input: amount,
  cacheRead: amount,
  cacheWrite: amount,
  output: amount,
  reasoning: amount,
})
const failureKind = oneOf<FailureKind>({
  aborted: true,
  'idle-timeout': true,
  overloaded: true,
  'rate-limited': true,
  quota: true,
  auth: true,
  'context-overflow': true,
  'transcript-invalid': true,
  'replay-rejected': true,
  'replay-missing': true,
  protocol: true,
  interrupted: true,
  server: true,
  network: true,
  'invalid-request': true,
  'empty-response': true,
  'unknown-stop': true,
  superseded: true,
  script: true,
  unknown: true,
})
const failure = record<Failure>({
  kind: failureKind,
  message: text,
  retry: flag,
  status: optional(amount),
  code: optional(text),
  retryAfterMs: optional(amount),
  requestId: optional(text),
  partial: optional(flag),
})

type OutcomeOf<Kind extends CallOutcome['kind']> = Extract<CallOutcome, { kind: Kind }>
type EndOf<Kind extends TurnOutcome['kind']> = Extract<TurnOutcome, { kind: Kind }>

const callOutcome = union<CallOutcome, 'kind'>('kind', {
  ok: { data: optional(json) },
  error: { code: text, message: text, retryable: optional(flag) },
  denied: {
    by: oneOf<OutcomeOf<'denied'>['by']>({ policy: true, user: true, expired: true, plugin: true }),
    reason: text,
  },
  timeout: { afterMs: amount },
  'not-started': {
    reason: oneOf<NotStartedReason>({
      aborted: true,
      stale: true,
      'output-limit': true,
      'unknown-stop': true,
      refused: true,
      'step-limit': true,
      'not-taken': true,
      'turn-ended': true,
    }),
  },
  unknown: { reason: oneOf<OutcomeOf<'unknown'>['reason']>({ crashed: true, aborted: true }) },
  invalid: { problem: oneOf<OutcomeOf<'invalid'>['problem']>({ json: true, schema: true, tool: true }), message: text },
  intercepted: { by: text, message: text, stuck: optional(flag), times: optional(count) },
})

const turnOutcome = union<TurnOutcome, 'kind'>('kind', {
  completed: {},
  'max-tokens': { limit: oneOf<EndOf<'max-tokens'>['limit']>({ output: true, context: true }) },
  'step-limit': {
    how: oneOf<EndOf<'step-limit'>['how']>({ error: true, summary: true, handback: true, ask: true }),
    steps: count,
    notice: optional(text),
    failure: optional(failure),
    goOn: optional(flag),
  },
  budget: { reason: text },
  blocked: { reason: text },
  refused: { reason: text },
  stuck: { tool: text, times: count },
  'veto-capped': { vetoes: count },
  aborted: { reason: text },
  error: { failure },
})

const resources = listOf(
  record<CallRecord['resources'][number]>({
    name: text,
    mode: oneOf<CallRecord['resources'][number]['mode']>({ read: true, write: true }),
  }),
)
const callRecord = record<CallRecord>({
  id: text,
  name: text,
  rawArgs: text,
  args: optional(jsonObject),
  providerId: text,
  effect: oneOf<CallRecord['effect']>({ read: true, idempotent: true, write: true }),
  resources,
  fingerprint: text,
  guard: optional(oneOf<GuardMode>({ strict: true, progress: true, off: true })),
})
const limits = record<TurnLimits>({
  steps: count,
  stepPolicy: oneOf<TurnLimits['stepPolicy']>({ error: true, summary: true, handback: true, ask: true }),
  vetoes: count,
})
const content = record<EpochContent>({
  system: text,
  tools: listOf(record<EpochContent['tools'][number]>({ name: text, description: text, parameters: json })),
  route,
  hash: text,
})

type BodyOf<Type extends EventBody['type']> = Extract<EventBody, { type: Type }>

const stepPurpose = oneOf<BodyOf<'step.started'>['purpose']>({ step: true, limit: true })

const BODIES: Variants<EventBody, 'type'> = {
  'session.created': {
    format: count,
    agent: text,
    locale,
    parent: optional(record<NonNullable<BodyOf<'session.created'>['parent']>>({ session: text, call: text })),
  },
  'session.forked': { from: text, upTo: count },
  'session.resumed': { input: text },
  'epoch.started': {
    n: count,
    reason: oneOf<BodyOf<'epoch.started'>['reason']>({ created: true, changed: true, switched: true, compacted: true }),
    content,
  },
  'agent.switched': { to: text, by: text },

  'turn.started': {
    trigger: oneOf<BodyOf<'turn.started'>['trigger']>({ input: true, 'go-on': true }),
    limits,
  },
  'turn.abort-asked': { input: text, reason: text, pending, until: time },
  'turn.limit-asked': { ask: text },
  'turn.limit-decided': { ask: text, goOn: flag, input: text },
  'turn.ended': { outcome: turnOutcome, goal },

  'input.entered': { input: text, lane: messageLane, origin, content: parts },
  'input.rejected': { input: text, lane, reason: text },

  'step.started': { purpose: stepPurpose },
  'step.refused': { reason: text },
  'step.ended': {},

  'model.requested': {
    attempt: count,
    purpose: oneOf<BodyOf<'model.requested'>['purpose']>({
      step: true,
      limit: true,
      summary: true,
      judge: true,
      aside: true,
    }),
    messages: count,
    toolChoice: oneOf<BodyOf<'model.requested'>['toolChoice']>({ auto: true, none: true }),
    options: optional(json),
  },
  'model.failed': { attempt: count, failure, retryAt: orNull(time), text, usage },
  'reply.completed': {
    attempt: count,
    finish: oneOf<BodyOf<'reply.completed'>['finish']>({
      done: true,
      calls: true,
      'max-tokens': true,
      'context-limit': true,
      pause: true,
      refused: true,
      'unknown-stop': true,
    }),
    rawFinish: text,
    parts: replyParts,
    calls: listOf(callRecord),
    usage,
    replay: optional(replay),
  },
  'reply.interrupted': {
    attempt: count,
    reason: oneOf<BodyOf<'reply.interrupted'>['reason']>({ crashed: true, aborted: true }),
    text,
    usage,
    retryAt: orNull(time),
    note: optional(parts),
  },

  'call.requested': { call: callRecord, parent: optional(text) },
  'call.approval-asked': {
    call: text,
    argsHash: text,
    reason: text,
    expiresAt: optional(time),
    args: optional(jsonObject),
  },
  'call.approval-decided': {
    call: text,
    decision: oneOf<BodyOf<'call.approval-decided'>['decision']>({ allow: true, deny: true }),
    by: origin,
    grant: oneOf<BodyOf<'call.approval-decided'>['grant']>({ once: true, session: true }),
    input: text,
    reason: optional(text),
  },
  'call.deferred': { call: text, what: text, expiresAt: optional(time) },
  'call.started': { call: text, attempt: count, args: optional(jsonObject) },
  'call.ended': {
    call: text,
    outcome: callOutcome,
    content: parts,
    progress: optional(text),
    input: optional(text),
  },
  'call.ended-late': { call: text, outcome: callOutcome, content: parts, input: text },

  'child.spawned': {
    call: text,
    session: text,
    mode: oneOf<BodyOf<'child.spawned'>['mode']>({ delegate: true, background: true }),
  },
  'child.ended': { call: text, session: text, outcome: turnOutcome, input: text },

  'stop.vetoed': { by: text, content: parts },

  'context.compacted': { upTo: count, summary: parts, usage },
  'context.compaction-refused': { reason: text },
  'loop.noted': { key: text, value: json, input: optional(text) },
  'log.damaged': { from: count, reason: text, quarantined: count, reopened: listOf(text), content: parts },
}

const BODY = union<EventBody, 'type'>('type', BODIES)
