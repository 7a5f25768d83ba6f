/**
 * The fields of every event, as a table: what a log has to be checked by that does not come from a store of ours, since the fold
 * trusts the shape of events and looks only at their order. The types make the table follow `EventBody`; the schemas in `spec/` are
 * written from it.
 */
import type { EventBody, EventHead, ForeignEvent } from '../kernel/events.ts'
import { isPlainObject } from '../util/json.ts'
import { misfit } from './shape-check.ts'
import {
  count,
  flag,
  json,
  jsonObject,
  listOf,
  oneOf,
  optional,
  ordinal,
  orNull,
  record,
  text,
  textLike,
  time,
  union,
  wholeTime,
  type Variants,
} from './shape.ts'
import {
  callOutcome,
  callRecord,
  epochContent,
  failure,
  finish,
  goal,
  lane,
  locale,
  messageLane,
  origin,
  parts,
  pending,
  purpose,
  replay,
  replyParts,
  turnLimits,
  turnOutcome,
  usage,
} from './value-shapes.ts'

/**
 * What keeps a value from being an event; null: nothing. An event of a type that is not known here fits if it has a head: it is
 * kept and skipped (L6).
 */
export function shapeProblem(value: unknown): string | null {
  if (!isPlainObject(value)) return 'it is no object'
  if (isDeeper(value, DEPTH_MAX)) return `it is nested more than ${DEPTH_MAX} deep`
  const type = Object.hasOwn(value, 'type') ? value['type'] : undefined
  const problem = misfit(EVENT_TYPE, type, 'type')
  return problem ?? problemOf(type as string, misfit(HEAD, value, '') ?? bodyProblem(type as string, value))
}

/** Whether the fields of this type are known here. Others are kept and skipped (L6). */
export function isKnownType(type: string): boolean {
  return Object.hasOwn(BODIES, type)
}

function bodyProblem(type: string, value: object): string | null {
  if (isKnownType(type)) return misfit(BODY, value, '')
  return type.startsWith(FOREIGN_PREFIX) ? misfit(FOREIGN, value, '') : null
}

function problemOf(type: string, problem: string | null): string | null {
  return problem === null ? null : `${type}: ${problem}`
}

/** Names are dotted; nothing that every object has by birth is. */
export const EVENT_TYPE = textLike(/^[^\s.]+(?:\.[^\s.]+)+$/, 'a dotted name')

/** How the types of plugins begin. */
export const FOREIGN_PREFIX = 'x.'

/** Deeper than anything that a model or a tool says in earnest, and far from where recursion ends. */
const DEPTH_MAX = 200

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((item) => isDeeper(item, depth - 1))
}

export const HEAD = record<EventHead>({ seq: count, at: wholeTime, fence: count, turn: count, step: count })

export const FOREIGN = record<Pick<ForeignEvent, 'data'>>({ data: json })

type BodyOf<Type extends EventBody['type']> = Extract<EventBody, { type: Type }>

const stepPurpose = oneOf<BodyOf<'step.started'>['purpose']>({ step: true, limit: true })

const BODIES: Variants<EventBody, 'type'> = {
  'session.created': {
    format: ordinal,
    agent: text,
    locale,
    parent: optional(record<NonNullable<BodyOf<'session.created'>['parent']>>({ session: text, call: text })),
  },
  'session.forked': { from: text, upTo: count },
  'session.resumed': { input: text },
  'epoch.started': {
    n: count,
    reason: oneOf<BodyOf<'epoch.started'>['reason']>({ created: true, changed: true, switched: true, compacted: true }),
    content: epochContent,
  },
  'agent.switched': { to: text, by: text },

  'turn.started': {
    trigger: oneOf<BodyOf<'turn.started'>['trigger']>({ input: true, 'go-on': true }),
    limits: turnLimits,
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
    purpose,
    messages: count,
    toolChoice: oneOf<BodyOf<'model.requested'>['toolChoice']>({ auto: true, none: true }),
    options: optional(json),
  },
  'model.failed': { attempt: count, failure, retryAt: orNull(time), text, usage },
  'reply.completed': {
    attempt: count,
    finish,
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

export const BODY = union<EventBody, 'type'>('type', BODIES)
