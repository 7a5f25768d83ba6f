/**
 * Reads an exported log and judges every line of it: its shape, then its place in the log. Owns that and the fences that events get
 * here; writes nothing.
 *
 * Every event carries the fence of the lease under which it was written (L4), and the leases of another store mean nothing here. So
 * events are stamped anew with the fence of the importing lease. Where a rule needs two leases to be told apart (a read that was started
 * again after a crash, C4), one more lease is taken; most logs need but one.
 */
import { TurnstepError } from '../../kernel/errors.ts'
import { FORMAT, type Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import type { RuleBreak } from '../../kernel/legality.ts'
import type { State } from '../../kernel/state.ts'
import { shapeProblem } from '../../protocol/event-shapes.ts'
import type { LogHeader } from '../../protocol/jsonl.ts'
import { isPlainObject } from '../../util/json.ts'
import type { Cli } from '../cli.ts'

export interface ReadLog {
  readonly header: LogHeader
  /** Where the log leaves the session. */
  readonly state: State
  /** The events by the lease that will write them, in order. */
  readonly leases: Event[][]
}

/** Throws `import-invalid` with the number of the line, and `format-newer`. `trust`: what was decided elsewhere counts here. */
export function readLog(cli: Cli, text: string, { trust }: { readonly trust: boolean }): ReadLog {
  const { importing: say } = cli.texts
  const lines = text.split('\n')
  while (lines.at(-1)?.trim() === '') lines.pop()
  const [first, ...rest] = lines
  if (first === undefined) throw bad(say.empty)
  const header = headerOf(cli, first)
  const state = emptyState()
  const leases: Event[][] = [[]]
  for (const [index, line] of rest.entries()) {
    const event = eventOf(cli, line, index + 2)
    if (!trust) refuseGrant(cli, { state, line: index + 2 }, event)
    const stamped = takeIn(cli, { state, fence: leases.length, line: index + 2 }, event)
    if (stamped.fence > leases.length) leases.push([])
    leases.at(-1)!.push(stamped)
  }
  if (rest.length !== header.events) throw bad(say.count(header.events, rest.length))
  return { header, state, leases }
}

function headerOf({ texts }: Cli, line: string): LogHeader {
  const value = parsed(line)
  const isHeader =
    isPlainObject(value) &&
    value['type'] === 'turnstep.log' &&
    Number.isInteger(value['format']) &&
    Number.isInteger(value['events']) &&
    typeof value['session'] === 'string'
  if (!isHeader) throw bad(texts.importing.header(line.length > 100 ? `${line.slice(0, 100)}…` : line))
  const header = value as unknown as LogHeader
  if (header.format > FORMAT) throw new TurnstepError('format-newer', texts.importing.newer(header.format, FORMAT))
  return header
}

function eventOf({ texts }: Cli, line: string, n: number): Event {
  const value = parsed(line)
  if (value instanceof Error) throw bad(texts.importing.json(n, value.message))
  const problem = shapeProblem(value)
  if (problem !== null) throw bad(texts.importing.event(n, problem))
  return value as Event
}

/** The value, or why there is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown
  } catch (error) {
    return error
  }
}

interface Standing {
  readonly state: State
  readonly fence: number
  readonly line: number
}

/** A grant outlives its turn (A2): whoever wrote the file would decide what runs here unasked. Events cannot be left out, so the log is. */
function refuseGrant({ texts }: Cli, { state, line }: Pick<Standing, 'state' | 'line'>, event: Event): void {
  if (event.type !== 'call.approval-decided' || event.grant !== 'session' || event.decision !== 'allow') return
  throw bad(texts.importing.grants(line, state.step?.byId.get(event.call)?.record.name ?? event.call))
}

/** The event with the fence under which it is legal here: this lease's, or else the next one's. */
function takeIn({ texts }: Cli, { state, fence, line }: Standing, event: Event): Event {
  const here: Event = { ...event, fence }
  const broken = foldSafely(state, here)
  if (broken === null) return here
  if (event.type === 'call.started' && broken.rule === 'C4') {
    const next: Event = { ...event, fence: fence + 1 }
    if (foldSafely(state, next) === null) return next
  }
  throw bad(texts.importing.rule(line, event.type, broken.rule, broken.problem))
}

/** The shape was checked; should the fold stumble all the same, it is over the file and no fault of ours. */
function foldSafely(state: State, event: Event): RuleBreak | null {
  try {
    return fold(state, event)
  } catch (error) {
    return { rule: 'L6', problem: `its fields are not those of ${event.type} (${String(error)})` }
  }
}

function bad(message: string): TurnstepError {
  return new TurnstepError('import-invalid', message)
}
