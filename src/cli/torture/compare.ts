/**
 * Whether a run that was hit tells the story of the undisturbed one: the same calls with the same outcomes, the same ends of turns, the
 * same agent, the same files. What the hit explains is let through. Pure.
 */
import { canonicalJson } from '../../util/json.ts'
import type { EpochContent, Event } from '../../kernel/events.ts'
import type { TortureCall, TortureComplaint } from '../../protocol/torture.ts'
import type { Evidence, Files } from './evidence.ts'
import { entriesOf } from './journal.ts'
import { hitsOf, placeOf } from './moments.ts'

/** What runs are compared with. */
export interface Yardstick {
  readonly run: Evidence
  /** Another undisturbed run told the same story. */
  readonly alike: boolean
  /** And left files of the same names. */
  readonly alikeFiles: boolean
}

export function yardstick(run: Evidence, other: Evidence): Yardstick {
  return {
    run,
    alike: storyOf(run).join('\n') === storyOf(other).join('\n'),
    alikeFiles: canonicalJson(run.files) === canonicalJson(other.files),
  }
}

export function compare(run: Evidence, stick: Yardstick): TortureComplaint[] {
  const isAbort = run.moment !== null && hitsOf(run.moment).some((hit) => placeOf(hit) === 'abort')
  const own = stick.alike && !isAbort ? sameStory(run, stick.run) : []
  return [
    ...faults(run, stick.run),
    ...agentChanges(run, stick.run),
    ...own,
    ...(isAbort ? [] : turns(run, stick)),
    ...filesLeft(run.files, stick),
  ]
}

/** Faults that were reported and that the undisturbed run does not have. */
function faults(run: Evidence, undisturbed: Evidence): TortureComplaint[] {
  const usual = new Set(entriesOf(undisturbed.entries, 'fault').map(({ problem }) => problem))
  return entriesOf(run.entries, 'fault')
    .filter(({ problem }) => !usual.has(problem))
    .map(({ process, problem }) => ({ kind: 'fault', process, problem }))
}

/** An epoch that began because the agent was another one than before the restart. */
function agentChanges({ events }: Evidence, undisturbed: Evidence): TortureComplaint[] {
  const isUsual = undisturbed.events.some((event) => event.type === 'epoch.started' && event.reason === 'changed')
  if (isUsual) return []
  const epochs = events.filter((event) => event.type === 'epoch.started')
  return epochs.flatMap((epoch, index): TortureComplaint[] => {
    const before = epochs[index - 1]
    return epoch.reason === 'changed' && before !== undefined ? [difference(before.content, epoch.content)] : []
  })
}

function difference(before: EpochContent, after: EpochContent): TortureComplaint {
  const old = new Map(before.tools.map((tool) => [tool.name, canonicalJson(tool)]))
  const names = new Set(after.tools.map(({ name }) => name))
  return {
    kind: 'agent-changed',
    gone: [...old.keys()].filter((name) => !names.has(name)),
    added: [...names].filter((name) => !old.has(name)),
    altered: after.tools
      .filter((tool) => old.has(tool.name) && old.get(tool.name) !== canonicalJson(tool))
      .map(({ name }) => name),
    instructions: before.system !== after.system,
  }
}

function sameStory(run: Evidence, undisturbed: Evidence): TortureComplaint[] {
  const doubt = firstDoubt(run)
  const calls = callChanges(run, undisturbed, doubt)
  // What follows from an unknown outcome, or from a steer that came at another step, is the model's to decide. And one thing is said once.
  const isSteered = [...run.receipts.keys()].some((input) => input.startsWith('steer-'))
  if (doubt !== null || isSteered || calls.length > 0) return calls
  const [was, is] = [storyOf(undisturbed), storyOf(run)]
  const at = was.findIndex((line, index) => line !== is[index])
  if (at === -1 && is.length === was.length) return []
  const where = at === -1 ? was.length : at
  return [{ kind: 'story-changed', was: was[where] ?? '-', is: is[where] ?? '-' }]
}

/** Where in the log the first outcome stands that the hit leaves open; null: nothing was left open. */
function firstDoubt({ events, calls }: Evidence): number | null {
  const writes = new Set(calls.filter(({ effect }) => effect === 'write').map(({ id }) => id))
  const open = events.find(
    (event) => event.type === 'call.ended' && event.outcome.kind === 'unknown' && writes.has(event.call),
  )
  return open?.seq ?? null
}

function callChanges(run: Evidence, undisturbed: Evidence, doubt: number | null): TortureComplaint[] {
  const before = new Map(undisturbed.calls.map((call) => [call.id, call]))
  const owed = owedCalls(run)
  const isComparable = ({ id, tool }: TortureCall): boolean => {
    const asked = run.events.find(
      (event) => event.type === 'reply.completed' && event.calls.some((call) => call.id === id),
    )
    return before.get(id)?.tool === tool && !owed.has(id) && (doubt === null || (asked?.seq ?? 0) < doubt)
  }
  return run.calls.filter(isComparable).flatMap((call): TortureComplaint[] => {
    const [was, is] = [before.get(call.id)!.outcome ?? 'open', call.outcome ?? 'open']
    return was === is ? [] : [{ kind: 'call-changed', tool: call.tool, call: call.id, was, is }]
  })
}

/** Writes that had been started and not ended when a process of the run was hit: their outcome is open (C4). */
function owedCalls({ entries, events, calls }: Evidence): ReadonlySet<string> {
  const owed = new Set<string>()
  for (const { tail } of entriesOf(entries, 'started').filter(({ process }) => process > 1)) {
    const known = events.filter(({ seq }) => seq <= tail)
    const ended = new Set(known.flatMap((event) => (event.type === 'call.ended' ? [event.call as string] : [])))
    const started = known.flatMap((event) => (event.type === 'call.started' ? [event.call as string] : []))
    for (const call of started) {
      const isWrite = calls.find(({ id }) => id === call)?.effect === 'write'
      if (isWrite && !ended.has(call)) owed.add(call)
    }
  }
  return owed
}

function turns(run: Evidence, { run: undisturbed, alike }: Yardstick): TortureComplaint[] {
  const usual = turnEnds(undisturbed.events)
  const mayDiffer = !alike || firstDoubt(run) !== null
  return turnEnds(run.events).flatMap(({ turn, how, isError }): TortureComplaint[] => {
    // A steer that came late makes a turn more.
    const was = usual.find((one) => one.turn === turn) ?? usual.at(-1)
    if (was === undefined || was.how === how || (mayDiffer && !isError)) return []
    return [{ kind: 'turn-changed', turn, was: was.how, is: how }]
  })
}

function turnEnds(
  events: readonly Event[],
): { readonly turn: number; readonly how: string; readonly isError: boolean }[] {
  return events.flatMap((event) => {
    if (event.type !== 'turn.ended') return []
    const { outcome } = event
    const how = outcome.kind === 'error' ? `error: ${outcome.failure.message}` : outcome.kind
    return [{ turn: event.turn, how, isError: outcome.kind === 'error' }]
  })
}

/**
 * The run as a list of what happened, without what a hit may change: attempts, the order in which calls came back, the step at which an
 * input entered.
 */
function storyOf({ events, calls, receipts }: Evidence): readonly string[] {
  const outcomes = new Map(calls.map(({ id, outcome }) => [id, outcome]))
  const steps = events.flatMap((event): string[] => {
    switch (event.type) {
      case 'step.started':
        return [`turn ${event.turn}, step ${event.step}`]
      case 'reply.completed':
        return event.calls.map(({ id, name }) => `${id} ${name}: ${outcomes.get(id) ?? 'open'}`)
      case 'stop.vetoed':
        return [`turn ${event.turn}: ${event.by} keeps it going`]
      case 'turn.ended':
        return [`turn ${event.turn}: ${event.outcome.kind}`]
      default:
        return []
    }
  })
  const settled = [...receipts].map(([input, receipt]) => `${input} ${receipt?.kind ?? 'lost'}`)
  return [...steps, ...settled.toSorted()]
}

function filesLeft(files: Files, { run, alikeFiles }: Yardstick): TortureComplaint[] {
  const places = alikeFiles ? (['store', 'work', 'temp'] as const) : (['store'] as const)
  return places.flatMap((place) => {
    const usual = new Set(run.files[place])
    return files[place]
      .filter((path) => !usual.has(path))
      .map((path): TortureComplaint => ({ kind: 'file-left', path: `${FOLDERS[place]}/${path}` }))
  })
}

const FOLDERS = { store: 'store', work: 'work', temp: 'tmp' } as const
