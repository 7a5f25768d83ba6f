/** The checks of the contract that every run has. */
import type { AgentLimits } from '../../../runtime/define/agent.ts'
import type { Check } from '../check.ts'
import { boundCheck } from './bounds.ts'
import { effectCheck, type EffectOptions } from './effects.ts'
import { holdCheck } from './hold.ts'
import { inputCheck } from './inputs.ts'
import { leaseCheck } from './leases.ts'
import { requestCheck } from './requests.ts'
import { restCheck, type RestOptions } from './rest.ts'
import { wakeCheck, type WakeOptions } from './wakes.ts'

export interface ContractOptions extends RestOptions, WakeOptions, Pick<EffectOptions, 'toolOf'> {
  readonly limits: AgentLimits
}

export function contractChecks({ limits, toolOf, store, session, isAttended }: ContractOptions): Check[] {
  return [
    leaseCheck(),
    effectCheck({ toolOf, pool: limits.pool ?? 8 }),
    inputCheck({ followups: limits.followups ?? 'one' }),
    holdCheck({ afterFailure: limits.afterFailure ?? 'hold' }),
    boundCheck({ toolOf }),
    wakeCheck({ store, session, isAttended }),
    requestCheck(),
    restCheck({ store, session }),
  ]
}
