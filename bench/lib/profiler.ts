/** Node's sampling profiler, from the moment at which a case is warm: what a program costs until then is not what a step costs. */
import { Session } from 'node:inspector/promises'

const INTERVAL_US = 100

let wanted = false
let session: Session | null = null

/** From here on the case of this process is to be profiled. */
export function wantProfile(): void {
  wanted = true
}

/** Cases call it when they begin to measure. */
export async function nowWarm(): Promise<void> {
  if (!wanted || session !== null) return
  session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })
  await session.post('Profiler.start')
}

/** The profile as JSON text. Throws for a case that never said it was warm. */
export async function takeProfile(): Promise<string> {
  if (session === null) throw new Error('this case cannot be profiled: nothing in it is repeated')
  const { profile } = await session.post('Profiler.stop')
  return JSON.stringify(profile)
}
