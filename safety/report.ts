/** What a run has found: counts, and in words whatever is wrong. */
import type { ScenarioName } from './talk.ts'

/** The numbers of a run. Null: that scenario was not run. */
export interface Counts {
  /** Processes that were killed with SIGKILL before they were done. */
  kills: number | null
  /** Sessions whose refund was paid, or whose message was taken, more than once. */
  doubled: number | null
  /** Sessions in which a message that had been acknowledged was gone, or was never acted on. */
  lost: number | null
  /** Kills after which the model was told `unknown` of just the refunds that were owed. */
  toldUnknown: number | null
  /** Kills that left a refund started and not recorded: those are to be told. */
  unknownOwed: number | null
  /** Histories that a strict provider would have refused. */
  invalid: number | null
  /** Steers that were not in the next request, once. */
  steersLate: number | null
  /** Bodies run for calls of a reply that was cut. */
  cutExecuted: number | null
  /** Approved sessions in which something was paid unasked, twice or never, or asked again. */
  approvalsWrong: number | null
  /** Steps after which a turn stopped by itself, without any setting. */
  defaultStop: number | null
  /** Replies whose reasoning or opaque state did not come back byte for byte. */
  reasoningChanged: number | null
}

/** What one scenario has found. */
export interface Findings {
  readonly counts: Partial<Counts>
  /** What happened, in a line. */
  readonly seen: string
  /** What should not have happened. Empty: all is well. */
  readonly wrong: readonly string[]
}

const NONE: Counts = {
  kills: null,
  doubled: null,
  lost: null,
  toldUnknown: null,
  unknownOwed: null,
  invalid: null,
  steersLate: null,
  cutExecuted: null,
  approvalsWrong: null,
  defaultStop: null,
  reasoningChanged: null,
}

/** The counts of all scenarios together. */
export function total(all: Iterable<Pick<Findings, 'counts'>>): Counts {
  const sum = { ...NONE }
  for (const { counts } of all) {
    for (const [name, count] of Object.entries(counts) as [keyof Counts, number][]) sum[name] = (sum[name] ?? 0) + count
  }
  return sum
}

/** The table that people read: a line for each scenario, what is wrong below it. */
export function table(findings: ReadonlyMap<ScenarioName, Findings>): string {
  const lines = [...findings].flatMap(([name, { seen, wrong }]) => [
    `${wrong.length === 0 ? 'ok   ' : 'WRONG'} ${name.padEnd(10)} ${seen}`,
    ...wrong.map((text) => `      ${text}`),
  ])
  const counts = Object.entries(total(findings.values())).filter(([, count]) => count !== null)
  return [...lines, '', counts.map(([name, count]) => `${name} ${count}`).join(' · ')].join('\n')
}
