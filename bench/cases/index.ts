/** All cases, in the order of the table. */
import type { Case } from '../lib/case.ts'
import { bytes } from './bytes.ts'
import { cold } from './cold.ts'
import { durable } from './durable.ts'
import { growth } from './growth.ts'
import { idle } from './idle.ts'
import { install } from './install.ts'
import { live } from './live.ts'
import { parallel } from './parallel.ts'
import { queue } from './queue.ts'
import { resume } from './resume.ts'
import { steps } from './steps.ts'
import { stream } from './stream.ts'

export const CASES: readonly Case[] = [
  steps,
  growth,
  durable,
  bytes,
  stream,
  resume,
  live,
  idle,
  cold,
  parallel,
  queue,
  install,
]
