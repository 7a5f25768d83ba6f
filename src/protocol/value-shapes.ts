/** Shapes of the values that events and inputs are made of. Each has the name of its type in `src/kernel`. */
import type {
  CallRecord,
  EffectClass,
  EpochContent,
  Finish,
  GuardMode,
  Purpose,
  ResourceUse,
  StepLimitPolicy,
  ToolSpec,
  TurnLimits,
} from '../kernel/events.ts'
import type { Failure, FailureKind, Usage } from '../kernel/failure.ts'
import type { Lane, MessageLane, PendingPolicy } from '../kernel/input.ts'
import type { Origin, Part, Replay, ReplyPart, Route } from '../kernel/message.ts'
import type { CallOutcome, Goal, NotStartedReason, TurnOutcome } from '../kernel/outcome.ts'
import {
  amount,
  count,
  flag,
  json,
  jsonObject,
  listOf,
  named,
  oneOf,
  optional,
  record,
  text,
  textLike,
  union,
} from './shape.ts'

/** A short language tag, as a catalog of texts is looked up by. */
export const locale = textLike(/^[a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/, 'a language, such as en')

const messageLanes: Readonly<Record<MessageLane, true>> = { steer: true, note: true, followup: true }
export const messageLane = named('MessageLane', oneOf<MessageLane>(messageLanes))
export const lane = named('Lane', oneOf<Lane>({ control: true, ...messageLanes }))
export const pending = named('PendingPolicy', oneOf<PendingPolicy>({ keep: true, return: true, drop: true }))
export const goal = named('Goal', oneOf<Goal>({ unchecked: true, met: true, unmet: true }))

export const origin = named(
  'Origin',
  record<Origin>({
    kind: oneOf<Origin['kind']>({ user: true, steer: true, plugin: true, child: true, timer: true, system: true }),
    name: optional(text),
  }),
)
const route = named('Route', record<Route>({ adapter: text, wire: text, provider: text, model: text, scope: text }))
const part = named('Part', union<Part, 'type'>('type', { text: { text }, image: { mediaType: text, data: text } }))
export const parts = listOf(part)
const replyPart = named(
  'ReplyPart',
  union<ReplyPart, 'type'>('type', { text: { text }, reasoning: { text }, call: { call: text } }),
)
export const replyParts = listOf(replyPart)
export const replay = named(
  'Replay',
  record<Replay>({
    state: text,
    route,
    binding: oneOf<Replay['binding']>({ none: true, prefix: true }),
    epoch: count,
  }),
)

export const usage = named(
  'Usage',
  record<Usage>({
    known: flag,
    input: amount,
    cacheRead: amount,
    cacheWrite: amount,
    output: amount,
    reasoning: amount,
  }),
)
const failureKind = named(
  'FailureKind',
  oneOf<FailureKind>({
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
  }),
)
export const failure = named(
  'Failure',
  record<Failure>({
    kind: failureKind,
    message: text,
    retry: flag,
    status: optional(amount),
    code: optional(text),
    retryAfterMs: optional(amount),
    requestId: optional(text),
    partial: optional(flag),
  }),
)

type OutcomeOf<Kind extends CallOutcome['kind']> = Extract<CallOutcome, { kind: Kind }>
type EndOf<Kind extends TurnOutcome['kind']> = Extract<TurnOutcome, { kind: Kind }>

const notStartedReason = named(
  'NotStartedReason',
  oneOf<NotStartedReason>({
    aborted: true,
    stale: true,
    'output-limit': true,
    'unknown-stop': true,
    refused: true,
    'step-limit': true,
    'not-taken': true,
    'turn-ended': true,
  }),
)

export const callOutcome = named(
  'CallOutcome',
  union<CallOutcome, 'kind'>('kind', {
    ok: { data: optional(json) },
    error: { code: text, message: text, retryable: optional(flag) },
    denied: {
      by: oneOf<OutcomeOf<'denied'>['by']>({ policy: true, user: true, expired: true, plugin: true }),
      reason: text,
    },
    timeout: { afterMs: amount },
    'not-started': { reason: notStartedReason },
    unknown: { reason: oneOf<OutcomeOf<'unknown'>['reason']>({ crashed: true, aborted: true }) },
    invalid: {
      problem: oneOf<OutcomeOf<'invalid'>['problem']>({ json: true, schema: true, tool: true }),
      message: text,
    },
    intercepted: { by: text, message: text, stuck: optional(flag), times: optional(count) },
  }),
)

const stepLimitPolicy = oneOf<StepLimitPolicy>({ error: true, summary: true, handback: true, ask: true })

export const turnOutcome = named(
  'TurnOutcome',
  union<TurnOutcome, 'kind'>('kind', {
    completed: {},
    'max-tokens': { limit: oneOf<EndOf<'max-tokens'>['limit']>({ output: true, context: true }) },
    'step-limit': {
      how: stepLimitPolicy,
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
  }),
)

export const callRecord = named(
  'CallRecord',
  record<CallRecord>({
    id: text,
    name: text,
    rawArgs: text,
    args: optional(jsonObject),
    providerId: text,
    effect: named('EffectClass', oneOf<EffectClass>({ read: true, idempotent: true, write: true })),
    resources: listOf(
      named(
        'ResourceUse',
        record<ResourceUse>({ name: text, mode: oneOf<ResourceUse['mode']>({ read: true, write: true }) }),
      ),
    ),
    fingerprint: text,
    guard: optional(named('GuardMode', oneOf<GuardMode>({ strict: true, progress: true, off: true }))),
  }),
)
export const turnLimits = named(
  'TurnLimits',
  record<TurnLimits>({ steps: count, stepPolicy: named('StepLimitPolicy', stepLimitPolicy), vetoes: count }),
)
export const epochContent = named(
  'EpochContent',
  record<EpochContent>({
    system: text,
    tools: listOf(named('ToolSpec', record<ToolSpec>({ name: text, description: text, parameters: json }))),
    route,
    hash: text,
  }),
)
export const purpose = named(
  'Purpose',
  oneOf<Purpose>({ step: true, limit: true, summary: true, judge: true, aside: true }),
)
export const finish = named(
  'Finish',
  oneOf<Finish>({
    done: true,
    calls: true,
    'max-tokens': true,
    'context-limit': true,
    pause: true,
    refused: true,
    'unknown-stop': true,
  }),
)
