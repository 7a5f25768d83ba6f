/** What is known of a session whose processes were killed, and what is wrong with it. Pure: planted samples show that each fault is seen. */
import type { Counts } from './report.ts'
import type { LineOf, Refund } from './talk.ts'

/** A session once it has come to rest after its last kill. */
export interface Killed {
  /** When it was killed, in words. */
  readonly at: string
  /** Refunds that were started and not recorded when it was killed last. */
  readonly owed: readonly string[]
  /** Refunds of which the model was told after that that nobody knows. */
  readonly told: readonly string[]
  /** Of every request of every life. */
  readonly faults: readonly string[]
  readonly paid: readonly Refund[]
  readonly rest: Pick<LineOf<'rest'>, 'turns' | 'entered'>
  /** Where people are asked before a refund. */
  readonly approval?: Approval
}

/** What became of its questions. */
export interface Approval {
  /** Paid before anybody had answered. */
  readonly early: readonly Refund[]
  /** Calls that were asked about though they had been decided. */
  readonly askedAgain: readonly string[]
  /** What became of approving once more what had been approved. */
  readonly onceMore: readonly string[]
}

/** What is wrong, in words, by the count that it belongs to. Nothing is wrong with an empty one. */
export type Problems = Readonly<Partial<Record<'doubled' | 'lost' | 'untold' | 'invalid' | 'approval', string>>>

/** Judges a session: one refund, one message, one completed turn, valid histories, and the model told of just what nobody knows. */
export function judge({ owed, told, faults, paid, rest, approval }: Killed): Problems {
  const story = `paid ${paid.length} times, message taken ${rest.entered} times, turns ended: ${rest.turns.join(', ')}`
  const isDoubled = paid.length > 1 || rest.entered > 1
  const isLost = paid.length === 0 || rest.entered === 0 || rest.turns.join() !== 'completed'
  const isTold = owed.toSorted().join() === told.toSorted().join()
  const approvals = approval === undefined ? [] : approvalProblems(approval, paid)
  return {
    ...(isDoubled ? { doubled: story } : {}),
    ...(isLost ? { lost: story } : {}),
    ...(isTold ? {} : { untold: `nobody knows of ${list(owed)}, and the model was told of ${list(told)}` }),
    ...(faults.length === 0 ? {} : { invalid: faults.join('; ') }),
    ...(approvals.length === 0 ? {} : { approval: approvals.join('; ') }),
  }
}

function approvalProblems({ early, askedAgain, onceMore }: Approval, paid: readonly Refund[]): string[] {
  return [
    ...(early.length === 0 ? [] : ['paid before it was approved']),
    ...(paid.length === 1 ? [] : [`approved, and paid ${paid.length} times`]),
    ...askedAgain.map((call) => `asked again about ${call}, which had been decided`),
    ...onceMore.filter((state) => state !== 'rejected').map((state) => `approving once more was ${state}`),
  ]
}

const list = (calls: readonly string[]): string => calls.join(', ') || 'nothing'

/** The counts of such sessions, and what is wrong with them. */
export function sum(sessions: readonly Killed[]): { readonly counts: Partial<Counts>; readonly wrong: string[] } {
  const judged = sessions.map((one) => ({ one, problems: judge(one) }))
  const count = (name: keyof Problems): number => judged.filter(({ problems }) => problems[name] !== undefined).length
  const owing = judged.filter(({ one }) => one.owed.length > 0)
  return {
    counts: {
      doubled: count('doubled'),
      lost: count('lost'),
      toldUnknown: owing.filter(({ problems }) => problems.untold === undefined).length,
      unknownOwed: owing.length,
      invalid: count('invalid'),
    },
    wrong: judged.flatMap(({ one, problems }) =>
      Object.entries(problems).map(([name, text]) => `${name}: killed ${one.at}: ${text}`),
    ),
  }
}

/** How often each: `3 a, 1 b`, in the order in which they were first seen. */
export function tally(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].map(([text, count]) => `${count} ${text}`).join(', ')
}

/** A steer that became durable when there had been so many requests, and whether a tool or the model was at work then. */
export interface Steered {
  readonly requests: number
  readonly wasBusy: boolean
  /** How often it stands in each request of its turn. */
  readonly counts: readonly number[]
  readonly faults: readonly string[]
  readonly end: string
}

/**
 * What is wrong with a steer; empty: nothing. It has to be in the very next request, once, and in every one after that. Where nothing
 * was at work when it became durable, a request may have been on its way.
 */
export function judgeSteer({ requests, wasBusy, counts, end }: Steered): string {
  const first = counts.findIndex((count) => count > 0)
  if (first === -1) return `in none of ${counts.length} requests`
  if (counts.slice(first).some((count) => count !== 1))
    return `not once in each request from the first on: ${counts.join(', ')}`
  if (first > requests + (wasBusy ? 0 : 1)) return `in request ${first + 1}, and durable during request ${requests}`
  return end === 'completed' ? '' : `its turn ended ${end}`
}
