/**
 * Adds the counts of the lanes and prints `N passed, N failed` as the last line: `sum.mjs FAILED_STEPS COUNTS.json...`.
 * A step that failed without a failing test (lint, install, demo) counts as one failure. Exits 1 on any failure.
 */
import { readFileSync } from 'node:fs'

const [failedSteps, ...files] = process.argv.slice(2)
const lanes = files.map((file) => JSON.parse(readFileSync(file, 'utf8')))
const passed = lanes.reduce((sum, lane) => sum + lane.passed, 0)
const failedTests = lanes.reduce((sum, lane) => sum + lane.failed, 0)
const lanesFailed = lanes.filter((lane) => lane.failed > 0).length
const failed = failedTests + Math.max(0, Number(failedSteps) - lanesFailed)

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
