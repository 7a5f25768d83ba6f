/** What each verb of a session may be told, by name: the types say the same, this is for those who have none. */
import { refuseUnknown, type Known } from '../borders.ts'
import type {
  AbortOptions,
  AnswerOptions,
  ApproveOptions,
  DenyOptions,
  PostOptions,
  Queue,
  SessionHandle,
  SteerOptions,
} from '../session.ts'

type OptionsOf<Verb extends 'watch' | 'history'> = NonNullable<Parameters<SessionHandle[Verb]>[0]>

const POST: Known<PostOptions> = { id: true, from: true, expiresInMs: true }
const STEER: Known<SteerOptions> = { ...POST, promptness: true }
const ABORT: Known<AbortOptions> = { ...POST, reason: true, pending: true, graceMs: true }
const APPROVE: Known<ApproveOptions> = { ...POST, always: true, argsHash: true }
const DENY: Known<DenyOptions> = { ...POST, reason: true, argsHash: true }
const ANSWER: Known<AnswerOptions> = { ...POST, error: true }
const WATCH: Known<OptionsOf<'watch'>> = { after: true, signal: true }
const HISTORY: Known<OptionsOf<'history'>> = { after: true, limit: true }
const MOVE: Known<NonNullable<Parameters<Queue['move']>[1]>> = { before: true }

const VERBS = {
  send: POST,
  steer: STEER,
  note: POST,
  abort: ABORT,
  approve: APPROVE,
  deny: DENY,
  answer: ANSWER,
  resume: POST,
  watch: WATCH,
  history: HISTORY,
  'queue.move': MOVE,
} as const

/** Throws `config-invalid` on an option that the verb has not, quoting it. */
export function checkOptions(verb: keyof typeof VERBS, options: object): void {
  refuseUnknown(options, VERBS[verb], verb)
}
