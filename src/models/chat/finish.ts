/** What the wire's finish reasons mean. A word that is not here is unknown, and never a completed reply (C8, trap 1). */
import type { Failure } from '../../kernel/failure.ts'
import type { ModelEnd, ModelReply } from '../../runtime/ports.ts'

type ReplyKind = Extract<ModelEnd, { readonly reply: ModelReply }>['kind']

type Finish =
  | { readonly kind: 'reply'; readonly as: ReplyKind }
  | { readonly kind: 'failure'; readonly failure: Failure }

/** Reads a finish reason. `hasCalls`: some servers say `stop` where they mean `tool_calls`. */
export function readFinish(raw: string, hasCalls: boolean): Finish {
  const failure = FAILED[raw]
  if (failure !== undefined)
    return { kind: 'failure', failure: { message: `the provider ended with "${raw}"`, retry: true, ...failure } }
  const as = MEANING[raw] ?? 'unknown-stop'
  return { kind: 'reply', as: as === 'done' && hasCalls ? 'calls' : as }
}

const MEANING: Readonly<Record<string, ReplyKind>> = {
  stop: 'done',
  tool_calls: 'calls',
  function_call: 'calls',
  length: 'max-tokens',
  max_tokens: 'max-tokens',
  content_filter: 'refused',
  sensitive: 'refused',
  refusal: 'refused',
  model_context_window_exceeded: 'context-limit',
}

const FAILED: Readonly<Record<string, Pick<Failure, 'kind'>>> = {
  insufficient_system_resource: { kind: 'overloaded' },
  network_error: { kind: 'server' },
  error: { kind: 'server' },
  abort: { kind: 'interrupted' },
}
