/**
 * One round of one case, in a process of its own: `child.js CASE prepare|measure|profile OPTIONS`. The figures are its last line, as
 * JSON; a profile goes into the folder of the options.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { CASES } from './cases/index.ts'
import type { CaseOptions } from './lib/case.ts'
import { takeProfile, wantProfile } from './lib/profiler.ts'

const [name, act, options] = process.argv.slice(2)
const found = CASES.find((one) => one.name === name)
if (found === undefined || options === undefined) throw new Error(`there is no case ${JSON.stringify(name)}`)
const given = JSON.parse(options) as CaseOptions
if (act === 'profile') wantProfile()
const figures = act === 'prepare' ? await found.prepare?.(given) : await found.measure(given)
if (act === 'profile') writeFileSync(join(given.folder, 'profile.json'), await takeProfile())
writeSync(1, `\n${JSON.stringify(figures ?? {})}\n`)
// Not left to whatever still listens: a measured process is over when its figures are told.
process.exit(0)
