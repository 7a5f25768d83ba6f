/** The last line of `npm run sim`: what came of it, and how to have the same again. */
import type { CrewOptions, Total } from './crew.ts'

/** Which seeds were to be run. */
export type Seeds = Pick<CrewOptions, 'fixed' | 'fresh'>

/** One line. What checked nothing says so: it must not look sound. */
export function verdictOf({ seeds, events, failures }: Readonly<Total>, ran: Seeds): string {
  const counts = `${counted(seeds, 'seed')}, ${counted(events, 'event')}`
  const [failure] = failures
  if (failure !== undefined)
    return `${counts}: ${counted(failures.length, 'failure')}; the first again: ${sim(`--seed ${failure.seed}`)}`
  if (seeds === 0) return `${counts}: nothing was checked; give more --minutes, or none`
  return `${counts}: no rule is broken; the same again: ${again(seeds, ran)}`
}

/** Of one life, seed or scenario: `how` are the flags that had it. */
export function verdictOfOne(events: number, faults: number, how: string): string {
  const found = faults === 0 ? 'no rule is broken' : counted(faults, 'failure')
  return `${counted(events, 'event')}: ${found}; the same again: ${sim(how)}`
}

function again(seeds: number, { fixed, fresh }: Seeds): string {
  const first = fresh === null ? seeds : Math.min(seeds, fixed.count)
  const behind = seeds - first
  const those = sim(`--from ${fixed.from} --seeds ${first}`)
  return behind === 0 ? those : `${those} && ${sim(`--from ${fresh} --seeds ${behind}`)}`
}

const sim = (flags: string): string => `npm run sim -- ${flags}`

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
