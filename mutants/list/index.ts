/** All planted faults, in the order of the layers. */
import type { Mutant } from '../mutant.ts'
import { CALLS } from './calls.ts'
import { KERNEL } from './kernel.ts'
import { LOOP } from './loop.ts'
import { MODELS } from './models.ts'
import { RUNNER } from './runner.ts'
import { STORES } from './stores.ts'
import { TOOLS } from './tools.ts'

export const MUTANTS: readonly Mutant[] = [...KERNEL, ...LOOP, ...RUNNER, ...CALLS, ...STORES, ...MODELS, ...TOOLS]
