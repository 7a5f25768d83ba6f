/** What a store of one session does, in the plainest way that is right: the measure for the property tests. */
import { expect } from 'vitest'
import type { Lane, MessageLane, ReceiptState } from '../kernel/input.ts'

export type Op =
  /** `tailOff`, `fenceOff`: how wrong the writer is about them. */
  | {
      readonly op: 'append'
      readonly events: number
      readonly tailOff: number
      readonly fenceOff: number
      readonly consume: readonly { readonly id: string; readonly versionOff: number }[]
      readonly unlessPending: readonly Lane[]
    }
  | { readonly op: 'put'; readonly id: string; readonly lane: Lane; readonly inMs: number | null }
  | { readonly op: 'edit'; readonly id: string; readonly lane: MessageLane }
  | { readonly op: 'withdraw'; readonly id: string }
  | { readonly op: 'move'; readonly id: string; readonly before: string | null }
  | { readonly op: 'acquire' }
  | { readonly op: 'renew'; readonly fenceOff: number }
  | {
      readonly op: 'release'
      readonly fenceOff: number
      readonly wake: readonly Lane[]
      readonly inMs: number | null
      readonly since: number
    }
  | { readonly op: 'advance'; readonly ms: number }
  /** A reader of what changed in the queue looks. */
  | { readonly op: 'follow' }
  | { readonly op: 'snapshot'; readonly seq: number }
  | { readonly op: 'page'; readonly after: number; readonly limit: number }

export interface OracleInput {
  readonly id: string
  lane: Lane
  version: number
  readonly tail: number
  readonly notBefore: number
  state: ReceiptState
}

const QUEUED: ReceiptState = { kind: 'queued' }

export class Oracle {
  tail = 0
  fence = 0
  isHeld = false
  snapshot: number | null = null
  /** In order of arrival, the settled ones included. */
  inputs: OracleInput[] = []
  wake: { lanes: readonly Lane[]; at: number; since: number } = {
    lanes: ['control', 'steer', 'followup'],
    at: Infinity,
    since: 0,
  }

  find(id: string): OracleInput | undefined {
    return this.inputs.find((input) => input.id === id)
  }

  pending(now: number): OracleInput[] {
    return this.inputs.filter((input) => input.state.kind === 'queued' && input.notBefore <= now)
  }

  isDue(now: number): boolean {
    return !this.isHeld && this.#isWoken(this.wake, now)
  }

  /** Does it, and answers what the store should: the kind, and what else is certain. */
  apply(op: Op, now: number): object | null {
    switch (op.op) {
      case 'append':
        return this.#append(op, now)
      case 'put': {
        const known = this.find(op.id)
        if (known !== undefined) return { kind: 'duplicate', state: known.state }
        const notBefore = op.inMs === null ? -Infinity : now + op.inMs
        this.inputs.push({ id: op.id, lane: op.lane, version: 1, tail: this.tail, notBefore, state: QUEUED })
        return { kind: 'queued' }
      }
      case 'edit':
        return this.#change(op.id, (input) => {
          if (input.lane === 'control') return { kind: 'missing' }
          input.lane = op.lane
          input.version++
          return { kind: 'changed' }
        })
      case 'withdraw':
        return this.#change(op.id, (input) => {
          input.state = { kind: 'withdrawn' }
          return { kind: 'changed' }
        })
      case 'move':
        return this.#change(op.id, (input) => this.#move(input, op.before))
      case 'acquire':
        if (this.isHeld) return { kind: 'busy', owner: 'o' }
        this.isHeld = true
        return { kind: 'acquired', fence: ++this.fence, tail: this.tail, repaired: null }
      case 'renew':
        return { kind: this.isHeld && op.fenceOff === 0 ? 'renewed' : 'lost' }
      case 'release': {
        if (!this.isHeld || op.fenceOff !== 0) return { kind: 'lost' }
        const wake = { lanes: op.wake, at: op.inMs === null ? Infinity : now + op.inMs, since: op.since }
        if (this.#isWoken(wake, now)) return { kind: 'due' }
        this.wake = wake
        this.isHeld = false
        return { kind: 'released' }
      }
      case 'snapshot':
        if (this.isHeld && op.seq <= this.tail) this.snapshot = Math.max(op.seq, this.snapshot ?? 0)
        return this.snapshot === null ? null : { seq: this.snapshot }
      case 'page':
        return { seqs: this.#seqs().slice(op.after, op.after + op.limit), tail: this.tail, damage: null }
      case 'advance':
      case 'follow':
        return null
    }
  }

  #seqs(): number[] {
    return Array.from({ length: this.tail }, (_, at) => at + 1)
  }

  #append(op: Extract<Op, { op: 'append' }>, now: number): object {
    if (!this.isHeld || op.fenceOff !== 0) return { kind: 'fenced' }
    if (op.tailOff !== 0) return { kind: 'conflict', tail: this.tail }
    const gone = op.consume.filter(({ id, versionOff }) => versionOff !== 0 || this.find(id)?.state.kind !== 'queued')
    if (gone.length > 0) return { kind: 'gone', inputs: gone.map(({ id }) => id) }
    const claimed = op.consume.map(({ id }) => id)
    const left = this.pending(now).filter((input) => !claimed.includes(input.id))
    const lanes = op.unlessPending.filter((lane) => left.some((input) => input.lane === lane))
    if (lanes.length > 0) return { kind: 'pending', lanes: expect.arrayContaining(lanes) as unknown }
    this.tail += op.events
    for (const id of claimed) this.find(id)!.state = { kind: 'entered', turn: 1, step: 1 }
    return { kind: 'appended', tail: this.tail }
  }

  #change(id: string, change: (input: OracleInput) => object): object {
    const input = this.find(id)
    if (input === undefined) return { kind: 'missing' }
    return input.state.kind === 'queued' ? change(input) : { kind: 'settled', state: input.state }
  }

  #move(input: OracleInput, before: string | null): object {
    const goal = before === null ? null : this.find(before)
    if (goal === undefined || (goal !== null && goal.state.kind !== 'queued')) return { kind: 'missing' }
    if (goal === input) return { kind: 'changed' }
    this.inputs = this.inputs.filter((other) => other !== input)
    this.inputs.splice(goal === null ? this.inputs.length : this.inputs.indexOf(goal), 0, input)
    return { kind: 'changed' }
  }

  #isWoken(wake: { lanes: readonly Lane[]; at: number; since: number }, now: number): boolean {
    if (wake.at <= now) return true
    const counts = (input: OracleInput): boolean => input.lane === 'control' || input.tail >= wake.since
    return this.pending(now).some((input) => wake.lanes.includes(input.lane) && counts(input))
  }
}
