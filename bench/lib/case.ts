/** What a case is: something that is measured in a process of its own, as often as there are rounds. */

export interface CaseOptions {
  /** Smaller sizes and fewer repetitions: to see that it runs. */
  readonly quick: boolean
  /** A folder for files; the same one for all rounds of a case. */
  readonly folder: string
  /** Which round this is, from 0. */
  readonly round: number
  /** Runs long enough for a sampling profiler, if the case does so at all. */
  readonly profile: boolean
}

/** What was measured, by name. Over the rounds the median is taken of each. */
export type Figures = { readonly [name: string]: number }

export interface Case {
  readonly name: string
  /** What is measured, for the table. */
  readonly title: string
  /** Rounds where the command line gives none. */
  readonly rounds: number
  /** The figure, in microseconds, of which a profile shows the parts. */
  readonly unit?: string
  /** Runs once, in a process of its own, before the rounds. */
  prepare?(options: CaseOptions): Promise<void>
  /** One round. Throws where what it ran was not whole. */
  measure(options: CaseOptions): Promise<Figures>
}
