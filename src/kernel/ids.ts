import type { Brand } from '../util/brand.ts'

/** Names a session: one log, one inbox, one writer at a time. Chosen by the user or made by the host. */
export type SessionId = Brand<string, 'SessionId'>

/** Names an input and is its idempotency key: the same id twice is one input (I1). */
export type InputId = Brand<string, 'InputId'>

/** Names a call. Made from turn, step and index, so that the same log gives the same ids (C1). */
export type CallId = Brand<string, 'CallId'>

export const sessionId = (text: string): SessionId => text as SessionId
export const inputId = (text: string): InputId => text as InputId
export const callId = (text: string): CallId => text as CallId

/** The id of the `index`-th call (from 0) of a step's reply. */
export function replyCallId(turn: number, step: number, index: number): CallId {
  return `t${turn}s${step}c${index + 1}` as CallId
}

/** The id of the `index`-th call (from 0) that the code run by `parent` makes. */
export function innerCallId(parent: CallId, index: number): CallId {
  return `${parent}.${index + 1}` as CallId
}

/** The id under which a turn that stands at its step limit asks to go on (T4, policy `ask`). */
export function limitAskId(turn: number): CallId {
  return `t${turn}limit` as CallId
}
