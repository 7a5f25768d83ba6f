/**
 * The loop guard (T6): tells a model that repeats itself from one that gets on. Scoped to the turn, sees whole batches and
 * periods up to three. Owns the judgement; what is then said to the model is the runtime's.
 */
import { canonicalJson } from '../util/json.ts'
import { quickHash } from '../util/hash.ts'
import type { CallRecord, EffectClass, GuardMode } from './events.ts'
import type { CallOutcome } from './outcome.ts'
import type { Call, GuardStep, Turn } from './state.ts'

const PERIOD_MAX = 3
/** `strict`: the second in a row is not run. `progress`: the third that taught nothing is not run. */
const GUIDE_AT: Record<Exclude<GuardMode, 'off'>, number> = { strict: 2, progress: 3 }
/** The repetition at which the turn ends. */
const STUCK_AT = 5

export type Verdict = { readonly kind: 'run' } | { readonly kind: 'guide' | 'stuck'; readonly times: number }

const RUN: Verdict = { kind: 'run' }

export function guardModeOf(effect: EffectClass): GuardMode {
  return effect === 'read' ? 'progress' : 'strict'
}

/** Equal for calls that are the same attempt again: name and canonical arguments, or the tool's own `identity`. */
export function fingerprintOf(name: string, args: unknown, identity: string | null): string {
  return quickHash(`${name}\n${identity ?? canonicalJson(args)}`)
}

/** A result without what changes by itself (time stamps, durations, white space), so that equal means nothing was learnt. */
export function progressOf(text: string): string {
  // Nothing in it that could be a time or white space.
  if (!/[\d\s]/.test(text)) return quickHash(text)
  const normal = text
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b\d+(\.\d+)?\s?(ms|s|sec|seconds)\b/g, '<duration>')
    .replace(/\s+/g, ' ')
    .trim()
  return quickHash(normal)
}

/** Judges one call of the batch that the model just asked for, against what the turn has tried so far. */
export function judgeRepetition(turn: Turn, batch: readonly CallRecord[], call: CallRecord): Verdict {
  const mode = call.guard ?? guardModeOf(call.effect)
  if (mode === 'off') return RUN
  const times = Math.max(inARow(turn.guard, batch, call, mode), inPeriods(turn.guard, batch, mode))
  if (times >= STUCK_AT) return { kind: 'stuck', times }
  if (times >= GUIDE_AT[mode]) return { kind: 'guide', times }
  return RUN
}

/** How often this very call was made in a row, this time included. */
function inARow(past: readonly GuardStep[], batch: readonly CallRecord[], call: CallRecord, mode: GuardMode): number {
  return mode === 'strict' ? strictRow(past, batch, call) : progressRow(past, batch, call)
}

/** Call by call in model order, neighbours in the same batch included. */
function strictRow(past: readonly GuardStep[], batch: readonly CallRecord[], call: CallRecord): number {
  let times = 1
  for (let index = batch.indexOf(call) - 1; index >= 0; index--, times++) {
    if (batch[index]!.fingerprint !== call.fingerprint) return times
  }
  for (const step of past.toReversed()) {
    for (const print of step.inOrder.toReversed()) {
      if (print !== call.fingerprint) return times
      times++
    }
  }
  return times
}

/** Steps that were nothing but this call, as long as its result stayed the same. */
function progressRow(past: readonly GuardStep[], batch: readonly CallRecord[], call: CallRecord): number {
  if (batch.length > 1) return 1
  let times = 1
  for (let at = past.length - 1; at >= 0; at--, times++) {
    const step = past[at]!
    if (step.inOrder.length !== 1 || step.inOrder[0] !== call.fingerprint) break
    if (at < past.length - 1 && !same(step.results, past[at + 1]!.results)) break
  }
  return times
}

/** How often the last one to three batches, this one included, were repeated as a whole. */
function inPeriods(past: readonly GuardStep[], batch: readonly CallRecord[], mode: GuardMode): number {
  let prints: readonly string[] | null = null
  let best = 1
  for (let period = 1; period <= PERIOD_MAX; period++) {
    const before = past[past.length - period]
    if (before === undefined || before.prints.length !== batch.length) continue
    prints ??= sorted(batch.map((call) => call.fingerprint))
    if (!same(before.prints, prints)) continue
    let matched = 1
    for (let at = past.length - 1; at - period >= 0 && equalSteps(past[at]!, past[at - period]!, mode); at--) matched++
    best = Math.max(best, Math.floor(matched / period) + 1)
  }
  return best
}

function equalSteps(one: GuardStep, other: GuardStep, mode: GuardMode): boolean {
  return same(one.prints, other.prints) && (mode !== 'progress' || same(one.results, other.results))
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((print, index) => print === other[index])
}

/** Whether an end counts as an attempt. What never ran, may have run, or may go well next time does not. */
export function isAttempt(outcome: CallOutcome): boolean {
  switch (outcome.kind) {
    case 'ok':
    case 'intercepted':
      return true
    case 'error':
      return outcome.retryable !== true
    case 'denied':
    case 'timeout':
    case 'not-started':
    case 'unknown':
    case 'invalid':
      return false
  }
}

/** What the guard remembers of a finished step; null if nothing was attempted. */
export function guardStepOf(past: readonly GuardStep[], calls: readonly Call[]): GuardStep | null {
  const attempts = calls.every(wasAttempted) ? calls : calls.filter(wasAttempted)
  if (attempts.length === 0) return null
  const inOrder = attempts.map((call) => call.record.fingerprint)
  return { inOrder, prints: sorted(inOrder), results: sorted(attempts.map((call) => resultMark(past, call))) }
}

function wasAttempted(call: Call): boolean {
  return call.parent === null && call.outcome !== null && isAttempt(call.outcome)
}

const sorted = (marks: readonly string[]): readonly string[] => (marks.length < 2 ? marks : marks.toSorted())

/** A guided call taught nothing: it counts as its last result again, so that guidance does not end the row that it is about. */
function resultMark(past: readonly GuardStep[], call: Call): string {
  const prefix = `${call.record.fingerprint}:`
  if (call.outcome?.kind !== 'intercepted') return prefix + call.progress
  const before = past.findLast((step) => step.inOrder.includes(call.record.fingerprint))
  return before?.results.find((mark) => mark.startsWith(prefix)) ?? prefix
}
