/** One line per event, for people: where it stands, its type, and what matters of it. */
import type { Event, EventBody, EventOf, EventType } from '../../kernel/events.ts'
import { textOf, type Part, type ReplyPart } from '../../kernel/message.ts'
import type { CallOutcome, TurnOutcome } from '../../kernel/outcome.ts'

export function lineOf(event: Event): string {
  const facts = FACTS[event.type as EventType] as ((e: Event) => string) | undefined
  const text = facts === undefined ? JSON.stringify('data' in event ? event.data : null) : facts(event)
  return `${event.seq} ${event.turn}.${event.step} ${event.type} ${text}`.trimEnd()
}

type Facts = { [Type in EventType]: (e: EventOf<Type>) => string }

const FACTS: Facts = {
  'session.created': (e) => e.agent,
  'session.forked': (e) => `${e.from} up to ${e.upTo}`,
  'session.resumed': (e) => e.input,
  'epoch.started': (e) => `${e.n} ${e.reason}`,
  'agent.switched': (e) => `to ${e.to} by ${e.by}`,
  'turn.started': (e) => e.trigger,
  'turn.abort-asked': (e) => `${quote(e.reason)} pending=${e.pending}`,
  'turn.limit-asked': (e) => e.ask,
  'turn.limit-decided': (e) => `${e.ask} ${e.goOn ? 'go on' : 'stop'}`,
  'turn.ended': (e) => turnOutcome(e.outcome) + (e.goal === 'unchecked' ? '' : ` goal=${e.goal}`),
  'input.entered': (e) =>
    `${e.input} ${e.lane} of ${e.origin.kind}${e.origin.name === undefined ? '' : `:${e.origin.name}`} ${parts(e.content)}`,
  'input.rejected': (e) => `${e.input} ${e.lane} ${e.reason}`,
  'step.started': (e) => (e.purpose === 'step' ? '' : e.purpose),
  'step.refused': (e) => quote(e.reason),
  'step.ended': () => '',
  'model.requested': (e) =>
    `#${e.attempt} of ${e.messages} messages${e.toolChoice === 'none' ? ' without calls' : ''}${'options' in e ? ` ${JSON.stringify(e.options)}` : ''}`,
  'model.failed': (e) =>
    `#${e.attempt} ${e.failure.kind}${e.text === '' ? '' : ` after ${quote(e.text)}`} ${e.retryAt === null ? 'for good' : `again in ${e.retryAt - e.at} ms`}`,
  'reply.completed': (e) => `#${e.attempt} ${e.finish} ${replyText(e)}`,
  'reply.interrupted': (e) => `#${e.attempt} ${e.reason} ${quote(e.text)}`,
  'call.requested': (e) => `${e.call.id} ${e.call.name}`,
  'call.approval-asked': (e) => `${e.call} ${quote(e.reason)}${expiry(e)}`,
  'call.approval-decided': (e) => `${e.call} ${e.decision}${e.grant === 'session' ? ' always' : ''}`,
  'call.deferred': (e) => `${e.call} ${quote(e.what)}${expiry(e)}`,
  'call.started': (e) => `${e.call} #${e.attempt}${e.args === undefined ? '' : ` ${JSON.stringify(e.args)}`}`,
  'call.ended': (e) => `${e.call} ${callOutcome(e.outcome)} ${parts(e.content)}`,
  'call.ended-late': (e) => `${e.call} ${callOutcome(e.outcome)} ${parts(e.content)}`,
  'child.spawned': (e) => `${e.session} by ${e.call}`,
  'child.ended': (e) => `${e.session} ${turnOutcome(e.outcome)}`,
  'stop.vetoed': (e) => `by ${e.by} ${parts(e.content)}`,
  'context.compacted': (e) => `up to ${e.upTo} ${parts(e.summary)}`,
  'context.compaction-refused': (e) => quote(e.reason),
  'loop.noted': (e) => `${e.key} ${JSON.stringify(e.value)}`,
  'log.damaged': (e) => `from ${e.from} ${quote(e.reason)}`,
}

const TEXT_MAX = 110

/** Cut; and without what only some versions of Node say about broken JSON. */
function quote(text: string): string {
  const same = text.replace(/ \(line \d+ column \d+\)/, '')
  return JSON.stringify(same.length > TEXT_MAX ? `${same.slice(0, TEXT_MAX)}…` : same)
}

export function parts(content: readonly (Part | ReplyPart)[]): string {
  return quote(textOf(content))
}

function expiry(e: { readonly expiresAt?: number } & Pick<Event, 'at'>): string {
  return e.expiresAt === undefined ? '' : ` expires in ${e.expiresAt - e.at} ms`
}

function replyText(e: Extract<EventBody, { type: 'reply.completed' }>): string {
  const calls = e.calls.map((call) => `${call.name}(${call.rawArgs})`)
  const text = textOf(e.parts)
  return [...(text === '' && calls.length > 0 ? [] : [quote(text)]), ...calls].join(' ')
}

function callOutcome(outcome: CallOutcome): string {
  switch (outcome.kind) {
    case 'ok':
    case 'timeout':
      return outcome.kind
    case 'error':
      return `error{${outcome.code}}`
    case 'denied':
      return `denied{${outcome.by}}`
    case 'not-started':
    case 'unknown':
      return `${outcome.kind}{${outcome.reason}}`
    case 'invalid':
      return `invalid{${outcome.problem}}`
    case 'intercepted':
      return `intercepted{${outcome.times ?? ''}${outcome.stuck === true ? ' stuck' : ''}}`
  }
}

export function turnOutcome(outcome: TurnOutcome): string {
  switch (outcome.kind) {
    case 'completed':
      return 'completed'
    case 'max-tokens':
      return `max-tokens{${outcome.limit}}`
    case 'step-limit':
      return `step-limit{${outcome.how}${outcome.goOn === undefined ? '' : outcome.goOn ? ' go on' : ' stop'}${outcome.failure === undefined ? '' : ` ${outcome.failure.kind}`}}${outcome.notice === undefined ? '' : ` ${quote(outcome.notice)}`}`
    case 'stuck':
      return `stuck{${outcome.tool} ${outcome.times}}`
    case 'veto-capped':
      return `veto-capped{${outcome.vetoes}}`
    case 'error':
      return `error{${outcome.failure.kind}}`
    case 'budget':
    case 'blocked':
    case 'refused':
    case 'aborted':
      return `${outcome.kind}{${outcome.reason}}`
  }
}
