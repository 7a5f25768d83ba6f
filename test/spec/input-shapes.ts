/** Shapes of what the schemas describe beside events: inputs, and the messages of the neutral transcript. */
import type {
  Control,
  ControlInput,
  MessageInput,
  MessageLane,
  NewInput,
  ReceiptState,
} from '../../src/kernel/input.ts'
import type { Message, TranscriptCall } from '../../src/kernel/message.ts'
import type { OutcomeKind } from '../../src/kernel/outcome.ts'
import {
  count,
  json,
  listOf,
  named,
  oneOf,
  optional,
  record,
  text,
  time,
  union,
  wholeTime,
  amount,
} from '../../src/protocol/shape.ts'
import {
  callOutcome,
  messageLane,
  origin,
  parts,
  pending,
  replay,
  replyParts,
} from '../../src/protocol/value-shapes.ts'

export const control = named(
  'Control',
  union<Control, 'kind'>('kind', {
    abort: { reason: text, pending, graceMs: optional(amount) },
    decide: {
      call: text,
      decision: oneOf<'allow' | 'deny'>({ allow: true, deny: true }),
      argsHash: optional(text),
      grant: oneOf<'once' | 'session'>({ once: true, session: true }),
      reason: optional(text),
    },
    answer: { call: text, outcome: callOutcome, content: parts },
    late: { call: text, outcome: callOutcome, content: parts },
    resume: {},
    timer: { name: text, data: optional(json) },
  }),
)

const promptness = optional(oneOf<'gate' | 'now'>({ gate: true, now: true }))
const controlLane = oneOf<'control'>({ control: true })

export const newMessage = record<Extract<NewInput, { lane: MessageLane }>>({
  id: text,
  lane: messageLane,
  origin,
  content: parts,
  promptness,
  expiresAt: optional(time),
})

export const newControl = record<Extract<NewInput, { lane: 'control' }>>({
  id: text,
  lane: controlLane,
  origin,
  control,
})

const place = { at: wholeTime, tail: count, arrival: count, version: count }

export const pendingMessage = record<MessageInput>({
  id: text,
  lane: messageLane,
  origin,
  content: parts,
  promptness,
  expiresAt: optional(time),
  ...place,
})

export const pendingControl = record<ControlInput>({ id: text, lane: controlLane, origin, control, ...place })

export const receiptState = named(
  'ReceiptState',
  union<ReceiptState, 'kind'>('kind', {
    queued: {},
    entered: { turn: count, step: count },
    rejected: { reason: text },
    withdrawn: {},
    expired: {},
  }),
)

const outcomeKind = named(
  'OutcomeKind',
  oneOf<OutcomeKind>({
    ok: true,
    error: true,
    denied: true,
    timeout: true,
    'not-started': true,
    unknown: true,
    invalid: true,
    intercepted: true,
  }),
)

const transcriptCall = named(
  'TranscriptCall',
  record<TranscriptCall>({ id: text, name: text, args: text, providerId: text }),
)

export const message = named(
  'Message',
  union<Message, 'role'>('role', {
    user: { content: parts, origin, input: optional(text) },
    assistant: { parts: replyParts, calls: listOf(transcriptCall), replay: optional(replay) },
    tool: { call: text, name: text, outcome: outcomeKind, content: parts },
  }),
)
