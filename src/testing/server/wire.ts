/**
 * What a wire is to the server: how its requests are read, refused and answered. One object of this kind for each wire; the server
 * knows no other difference between them.
 */
import type { ModelRequest } from '../../runtime/ports.ts'
import type { ReplaySeen, ScriptStep } from '../../models/scripted/index.ts'
import type { JsonObject } from './json-body.ts'

/** A request as it came. */
export interface WireRequest {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: JsonObject
  /** Names the reply that will be given; fresh for each request. */
  readonly response: string
  /** Whether a reply of which the script says no usage has an estimated one, or none where the wire can do without. */
  readonly estimatesUsage: boolean
}

/** A request that is not answered, as the real API says so. */
export interface Refusal {
  /** The rule that it breaks: `A11`. For the record; never sent. */
  readonly rule: string
  readonly status: number
  readonly body: unknown
  readonly headers?: { readonly [name: string]: string }
}

/** A request in neutral words, which scripts are asked about, and what became of the opaque state that it brings. */
export interface View {
  readonly request: Omit<ModelRequest, 'session' | 'epoch'>
  /** What became of the opaque state of each reply in the context, in order. */
  readonly replays: readonly ReplaySeen[]
}

/** One write of an answer. */
export interface Frame {
  readonly text: string
  /** It carries a piece of the reply: what `fault.after` counts. */
  readonly isPiece: boolean
}

export interface Wire {
  readonly name: string
  /** With what the ids of its replies begin. */
  readonly responsePrefix: string
  /** The first rule that is broken, or null. */
  refusalOf(request: WireRequest): Refusal | null
  /** Only of a request that is not refused. */
  viewOf(request: WireRequest): View
  headersOf(request: WireRequest): { readonly [name: string]: string }
  /** The whole answer, fault aside. */
  framesOf(step: ScriptStep, request: WireRequest): readonly Frame[]
  /** How the provider reports that it broke down: in the stream, or instead of one. */
  errorFrame(step: ScriptStep): string
  errorAnswer(step: ScriptStep): Omit<Refusal, 'rule'>
}
