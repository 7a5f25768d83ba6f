/**
 * Logs that were recorded by a release, and must load for ever (L6); and at each of their events a process died once: whatever
 * comes next must go on from there by the ordinary path. `TURNSTEP_RECORD=1` records those that are missing, from the scenarios
 * of the same name; one that is there is never written again.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { env } from '../src/host/node.ts'
import type { Event } from '../src/kernel/events.ts'
import { sessionId } from '../src/kernel/ids.ts'
import { fromSnapshot, toSnapshot } from '../src/kernel/snapshot.ts'
import { messageLine } from './kit/facts.ts'
import { foldLog } from './kit/invariants.ts'
import { recover } from './kit/recover.ts'
import { playScenario } from './kit/scenario/play.ts'

const GOLDEN = new URL('golden/', import.meta.url)
const SCENARIOS = new URL('scenarios/', import.meta.url)

const NAMES = [
  'a_turn_with_a_tool',
  'steer_and_notes_enter_together_in_order',
  'kept_inputs_do_not_start_after_abort',
  'abort_settles_calls_as_unknown_after_grace',
  'abort_while_the_model_speaks_keeps_its_text',
  'approvals_in_any_order',
  'rewritten_arguments_are_what_is_asked_about',
  'deferred_answer',
  'conflicting_calls_keep_model_order',
  'read_and_write_of_one_reply_after_crash',
  'late_outcome_is_news',
  'max_tokens_is_sticky',
  'step_limit_summary',
  'step_limit_ask_goes_on',
  'stuck_at_fifth',
  'veto_capped',
  'failed_attempts_leave_nothing_in_the_context',
  'steer_now_supersedes_silent_model_call',
]

const fileOf = (name: string, ending: string): URL => new URL(`v1-${name}.${ending}`, GOLDEN)
const scenarioOf = (name: string): string => readFileSync(new URL(`${name}.txt`, SCENARIOS), 'utf8')

function load(name: string): Event[] {
  const lines = readFileSync(fileOf(name, 'jsonl'), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Event)
}

const contextOf = (events: readonly Event[]): string => `${foldLog(events).state.context.map(messageLine).join('\n')}\n`

describe.runIf(env('TURNSTEP_RECORD') === '1')('recording', () => {
  it.each(NAMES.filter((name) => !existsSync(fileOf(name, 'jsonl'))))('%s', async (name) => {
    const { events } = await playScenario(scenarioOf(name))
    expect(foldLog(events).broken).toEqual([])
    writeFileSync(fileOf(name, 'jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    writeFileSync(fileOf(name, 'context.txt'), contextOf(events))
  })
})

describe('golden logs', () => {
  it('are all there', () => {
    const there = readdirSync(GOLDEN).filter((file) => file.endsWith('.jsonl'))
    expect(there).toEqual(expect.arrayContaining(NAMES.map((name) => `v1-${name}.jsonl`)))
  })

  it.each(NAMES)('L6 L2: %s loads, and gives the context that the model saw', (name) => {
    const events = load(name)
    expect(foldLog(events).broken).toEqual([])
    expect(contextOf(events)).toBe(readFileSync(fileOf(name, 'context.txt'), 'utf8'))
  })

  it.each(NAMES)('L3: %s goes on from a snapshot at every event', (name) => {
    const events = load(name)
    const whole = toSnapshot(foldLog(events).state)
    for (let cut = 0; cut <= events.length; cut++) {
      const state = fromSnapshot(toSnapshot(foldLog(events.slice(0, cut)).state))!
      const { broken } = foldLog(events.slice(cut), state)
      expect([cut, broken]).toEqual([cut, []])
      expect(toSnapshot(state)).toBe(whole)
    }
  })

  it.each(NAMES)('C4 W4: %s goes on after a crash at every event', async (name) => {
    const events = load(name)
    const setup = scenarioOf(name)
    for (let cut = 0; cut <= events.length; cut++) {
      const faults = await recover({ session: sessionId('s'), events, cut, setup })
      expect([cut, faults]).toEqual([cut, []])
    }
  })
})
