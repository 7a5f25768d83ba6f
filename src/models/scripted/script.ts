/** The words of a script: what a model without a wire answers, and what it demands of the request it answers. */
import type { FailureKind, Usage } from '../../kernel/failure.ts'
import type { OutcomeKind } from '../../kernel/outcome.ts'
import type { ModelRequest } from '../../runtime/ports.ts'
import type { Json } from '../../util/json.ts'

/** A text is found anywhere in the text looked at; a function is asked. */
export type Pattern = string | RegExp | ((text: string) => boolean)

/** When a step answers. Everything given must hold; null is the same as absent. */
export interface When {
  /** The last user message. */
  readonly lastUser?: Pattern | null
  /** The last tool result of those that this request brings, i.e. that stand behind the last assistant message. */
  readonly lastResult?: Pattern | null
  /** How many tool results stand behind the last user message. */
  readonly results?: number | null
  /** A tool of this name is offered. */
  readonly tool?: string | null
  readonly system?: Pattern | null
  /** True: no call may be made, since no tool is listed or the choice is `none`. */
  readonly noTools?: boolean | null
  /** How often this very request came, this time included. */
  readonly attempt?: number | null
}

/** What the request must be like. Anything that does not hold fails the call, and the script. */
export interface Expectation {
  /** Found somewhere in what the model sees: system text, messages, results, arguments. */
  readonly contains?: readonly Pattern[]
  readonly absent?: readonly Pattern[]
  readonly system?: Pattern
  readonly lastUser?: Pattern
  readonly lastResult?: Pattern
  /** Exactly these tools are listed, in any order. */
  readonly tools?: readonly string[]
  readonly toolChoice?: 'auto' | 'none'
  /** This request starts with the session's previous one: system text, tools, every message (X1). */
  readonly prefixSame?: boolean
  /** The outcome of the last tool result. */
  readonly lastOutcome?: OutcomeKind
  /** The outcomes of the results that this request brings, in order. */
  readonly outcomes?: readonly OutcomeKind[]
  /** For each tool named: what its last result says. */
  readonly resultOf?: { readonly [tool: string]: Pattern }
  /** How many messages there are. */
  readonly messages?: number
  /** Every reply in the context carries the replay state that this model gave it, unaltered (X7). */
  readonly replayExact?: boolean
  /** How many replies carry replay state of this model. */
  readonly replayCount?: number
  /** Anything else: a text is the complaint. */
  readonly check?: (request: ModelRequest) => string | null | undefined
}

export interface EmitCall {
  readonly name: string
  readonly args?: { readonly [key: string]: Json }
  /** The provider's id; default: one of its own, that does not repeat. */
  readonly id?: string
  /** The argument text itself, instead of `args`; may be no JSON. */
  readonly raw?: string
  /** Only the first half of the argument text arrives. */
  readonly cut?: boolean
}

/** A piece of a scripted reply. */
export type Emit =
  | { readonly text: string }
  | { readonly reasoning: string }
  /** Thinking that nobody may read: a blob on the wires that have one, nothing at all elsewhere. */
  | { readonly redacted: true }
  | { readonly call: EmitCall }

/** How a reply ends. Default: `tool` if there are calls, else `end`. `raw:` is a word that nobody knows. */
export type Stop = 'end' | 'tool' | 'length' | 'refusal' | 'filter' | 'pause' | 'context' | 'sequence' | `raw:${string}`

/** How a scripted call fails. */
export interface Fault {
  /**
   * `http`: refused before anything was shown · `reset`: the connection is gone before anything was answered · `cut`: the connection breaks · `cleanEnd`: it closes without a finish ·
   * `midError`: the provider reports an error in the stream · `garbage`: something unreadable comes · `stall`: nothing comes any more.
   */
  readonly kind: 'http' | 'reset' | 'cut' | 'cleanEnd' | 'midError' | 'garbage' | 'stall'
  /** How many chunks arrive first; default: all of them. */
  readonly after?: number
  readonly status?: number
  /** Seconds. */
  readonly retryAfterSeconds?: number
  readonly code?: string
  /** The provider's own word for the kind of error. */
  readonly type?: string
  readonly message?: string
  /** On a wire, with `http`: the body instead of the provider's envelope, such as the page of a proxy. */
  readonly rawBody?: string
  /** The failure's kind, where the status does not say it. */
  readonly failure?: FailureKind
}

/** One reply of the model: when it is given, what it expects of the request, what it says, how it ends. */
export interface ScriptStep {
  /** For messages about it. */
  readonly name?: string
  /** Absent: the step has its turn by the cursor. */
  readonly when?: When
  /** With `when`: answers once per session. */
  readonly once?: boolean
  /** Not missed by `verify` if it never answered. */
  readonly optional?: boolean
  readonly expect?: Expectation
  readonly emit?: readonly Emit[]
  readonly stop?: Stop
  readonly usage?: { readonly [Field in keyof Usage]?: Usage[Field] }
  readonly stream?: {
    /** Units of text per chunk; default: a part is one chunk. */
    readonly chunk?: number
    readonly argChunk?: number
    /** Before each chunk and before the end, on the clock of the options. */
    readonly delayMs?: number
    /** Bytes of each write on a wire, wherever that cuts a character. */
    readonly splitBytes?: number
    /** Whether a wire that has such a thing sends a sign of life between the chunks. */
    readonly ping?: boolean
    /** Thinking is kept from the reader, where a wire does that: its opaque state comes all the same. */
    readonly omitThinking?: boolean
  }
  readonly fault?: Fault
}

/** What a script that is a function is told beside the request. */
export interface ScriptTurn {
  /** Steps that this session has been given so far. */
  readonly position: number
  readonly attempt: number
}

/** Steps, or a function that makes one; null: this call was not expected. */
export type Script = readonly ScriptStep[] | ((request: ModelRequest, turn: ScriptTurn) => ScriptStep | null)

/** Does the pattern occur in the text? */
export function found(pattern: Pattern, text: string): boolean {
  if (typeof pattern === 'string') return text.includes(pattern)
  if (typeof pattern === 'function') return pattern(text)
  return text.search(pattern) >= 0
}
