/**
 * Whether a run is as it has to be, by itself: nothing done twice, nothing lost, nothing broken, nothing left behind. Pure; what it is
 * compared with an undisturbed run for is in `compare.ts`.
 */
import type { TortureComplaint } from '../../protocol/torture.ts'
import type { Evidence } from './evidence.ts'
import { historyComplaints } from './history.ts'
import { entriesOf } from './journal.ts'
import { hitsOf } from './moments.ts'

export function judge(run: Evidence): TortureComplaint[] {
  const stops = processes(run)
  const done = [...stops, ...effects(run)]
  // What is then still open and still there follows from that.
  if (stops.length > 0) return [...done, ...historyComplaints(run.events), ...checked(run)]
  return [
    ...done,
    ...inputs(run),
    ...(run.damage === null
      ? []
      : [{ kind: 'log-damaged' as const, seq: run.damage.from, problem: run.damage.reason }]),
    ...historyComplaints(run.events),
    ...leaks(run),
    ...checked(run),
  ]
}

/** Every process but those that were hit has to come to the session's rest. */
function processes({ entries, ends }: Evidence): TortureComplaint[] {
  return ends.flatMap((end, index): TortureComplaint[] => {
    const process = index + 1
    const own = entries.filter((entry) => entry.process === process)
    const [failed] = entriesOf(own, 'failed')
    if (failed !== undefined) return [{ kind: 'not-resumed', process, problem: failed.problem }]
    const [rested] = entriesOf(own, 'rested')
    if (rested !== undefined) {
      const isAtRest = ['idle', 'held', 'stopped'].includes(rested.status)
      return isAtRest ? [] : [{ kind: 'not-at-rest', status: rested.status }]
    }
    if (end.isLate) return [{ kind: 'not-at-rest', status: 'late' }]
    const wasKilled = end.signal === 'SIGKILL' && entriesOf(own, 'hit').length > 0
    if (wasKilled) return []
    const how = end.signal === null ? `code ${end.code}` : end.signal
    return [{ kind: 'not-resumed', process, problem: `it ended by itself, with ${how}` }]
  })
}

function effects({ entries, events, calls }: Evidence): TortureComplaint[] {
  const begun = entriesOf(entries, 'begun')
  const found: TortureComplaint[] = []
  for (const { id: call, tool, effect } of calls) {
    const bodies = begun.filter((body) => body.call === call)
    const keys = [...new Set(bodies.map(({ key }) => key))]
    if (effect === 'write' && bodies.length > 1) found.push({ kind: 'doubled', tool, call, times: bodies.length })
    if (keys.length > 1) found.push({ kind: 'key-changed', tool, call, keys })
    const starts = events.filter((event) => event.type === 'call.started' && event.call === call)
    const isRecorded = bodies.every(({ fence }) => starts.some((start) => start.fence === fence))
    if (!isRecorded) found.push({ kind: 'unrecorded', tool, call })
  }
  return found
}

function inputs({ events, receipts, pending }: Evidence): TortureComplaint[] {
  const found: TortureComplaint[] = []
  for (const [input, receipt] of receipts) {
    const times = events.filter((event) => event.type === 'input.entered' && event.input === input).length
    const isLost = receipt === null || (receipt.kind === 'entered' && times === 0)
    if (isLost) found.push({ kind: 'input-lost', input })
    if (times > 1) found.push({ kind: 'input-doubled', input, times })
  }
  // A note wakes nobody: it may wait for the next turn.
  for (const { id, lane } of pending) if (lane !== 'note') found.push({ kind: 'input-waiting', input: id, lane })
  return found
}

function leaks({ entries, lease, survivors, calls }: Evidence): TortureComplaint[] {
  const found: TortureComplaint[] = []
  if (lease !== null) found.push({ kind: 'lease-left', owner: lease.owner })
  for (const { bodies, handles } of entriesOf(entries, 'rested')) {
    for (const call of bodies)
      found.push({ kind: 'body-left', tool: calls.find(({ id }) => id === call)?.tool ?? '', call })
    for (const { handle, count } of handles) found.push({ kind: 'handle-left', handle, count })
  }
  for (const { pid, command } of survivors) found.push({ kind: 'process-left', pid, command })
  return found
}

function checked({ entries, ends, isChecked }: Evidence): TortureComplaint[] {
  if (!isChecked) return []
  const own = entries.filter(({ process }) => process === ends.length + 1)
  const [failed] = entriesOf(own, 'failed')
  if (failed !== undefined) return [{ kind: 'check', text: failed.problem }]
  const [said] = entriesOf(own, 'checked')
  const texts = said?.complaints ?? ['the check ended without an answer, or took too long']
  return texts.map((text) => ({ kind: 'check', text }))
}

/** Where its processes were really hit, and how far the log was then. */
export function hitsIn({
  entries,
  events,
}: Evidence): { readonly moment: string; readonly seq: number; readonly event: string | null }[] {
  return entriesOf(entries, 'hit').map(({ process, moment }) => {
    const next = entriesOf(entries, 'started').find((entry) => entry.process === process + 1)
    const asked = events.find((event) => event.type === 'turn.abort-asked')
    const seq = next?.tail ?? (asked === undefined ? (events.at(-1)?.seq ?? 0) : asked.seq - 1)
    return { moment, seq, event: events.find((event) => event.seq === seq)?.type ?? null }
  })
}

/** A moment that it was to be hit at did not come. */
export function isMissed(run: Evidence): boolean {
  return run.moment !== null && hitsIn(run).length < hitsOf(run.moment).length
}
