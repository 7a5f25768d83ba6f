/** The scenarios by their names. */
import type { Scenario } from '../rig.ts'
import type { ScenarioName } from '../talk.ts'
import { approve } from './approve.ts'
import { dangling } from './dangling.ts'
import { parallel } from './parallel.ts'
import { reasoning } from './reasoning.ts'
import { refund } from './refund.ts'
import { runaway } from './runaway.ts'
import { steer } from './steer.ts'
import { truncated } from './truncated.ts'

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  dangling,
  refund,
  steer,
  parallel,
  truncated,
  runaway,
  approve,
  reasoning,
}
