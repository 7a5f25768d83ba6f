/** What a rule is given, and what it answers. */
import type { JsonObject } from '../../json-body.ts'
import type { Refusal, WireRequest } from '../../wire.ts'
import type { Family } from './families.ts'
import type { Block, Turn } from './turns.ts'

/** A request whose shape is sound. */
export interface Case {
  readonly headers: WireRequest['headers']
  readonly body: JsonObject
  readonly model: string
  readonly family: Family
  readonly turns: readonly Turn[]
  /** Every block, in order. */
  readonly blocks: readonly Block[]
}

/** Null or nothing: it holds. */
export type Rule = (request: Case) => Refusal | null | undefined
