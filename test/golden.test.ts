/**
 * Logs that were recorded by a release, and must load for ever (L6); and at each of their events a process died once: whatever
 * comes next must go on from there by the ordinary path. They are part of the published protocol, and stand in `spec/golden`.
 * `TURNSTEP_RECORD=1` records logs and projections that are missing; one that is there is never written again.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { env, nodeIds } from '../src/host/node.ts'
import type { Event } from '../src/kernel/events.ts'
import { sessionId } from '../src/kernel/ids.ts'
import { fromSnapshot, toSnapshot } from '../src/kernel/snapshot.ts'
import { canonicalJson } from '../src/util/json.ts'
import { foldLog } from './kit/invariants.ts'
import { recover } from './kit/recover.ts'
import { playScenario } from './kit/scenario/play.ts'
import { projectionOf } from './spec/projection.ts'

const GOLDEN = new URL('../spec/golden/', import.meta.url)
const SCENARIOS = new URL('scenarios/', import.meta.url)

/** Recorded from the scenarios of the same name. */
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
  'rejection_leaves_neighbours_alone',
  'resume_lets_a_held_queue_go_on',
  'grant_holds_for_the_session',
  'step_limit_handback',
  'gate_refuses_step',
  'step_limit_summary_refuses_calls',
  'invalid_json_args',
]

/** Made by hand, of events that no runtime of ours writes yet. No loop of ours goes on from every one of their events. */
const HAND_MADE = ['hand_made_of_rare_events']

const fileOf = (name: string, ending: string): URL => new URL(`v1-${name}.${ending}`, GOLDEN)
const scenarioOf = (name: string): string => readFileSync(new URL(`${name}.txt`, SCENARIOS), 'utf8')

function load(name: string): Event[] {
  const lines = readFileSync(fileOf(name, 'jsonl'), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Event)
}

describe.runIf(env('TURNSTEP_RECORD') === '1')('recording', () => {
  it.each(NAMES.filter((name) => !existsSync(fileOf(name, 'jsonl'))))('%s', async (name) => {
    const { events, error } = await playScenario(scenarioOf(name))
    expect(error).toBeNull()
    expect(foldLog(events).broken).toEqual([])
    writeFileSync(fileOf(name, 'jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  })

  it('the projections of all', () => {
    for (const name of [...NAMES, ...HAND_MADE].filter((one) => !existsSync(fileOf(one, 'projection.json'))))
      writeFileSync(fileOf(name, 'projection.json'), projectionOf(load(name)))
    expect(readdirSync(GOLDEN).length).toBe(2 * (NAMES.length + HAND_MADE.length))
  })
})

describe('golden logs', () => {
  it('are all there, each with its projection', () => {
    const names = [...NAMES, ...HAND_MADE].flatMap((name) => [`v1-${name}.jsonl`, `v1-${name}.projection.json`])
    expect(readdirSync(GOLDEN).toSorted()).toEqual(names.toSorted())
  })

  it.each([...NAMES, ...HAND_MADE])('L6 L2: %s loads, and gives the context that the model saw', (name) => {
    const events = load(name)
    expect(foldLog(events).broken).toEqual([])
    expect(projectionOf(events)).toBe(readFileSync(fileOf(name, 'projection.json'), 'utf8'))
  })

  it.each([...NAMES, ...HAND_MADE])('X1: in %s each epoch is named by the hash of its content', (name) => {
    for (const event of load(name)) {
      if (event.type !== 'epoch.started') continue
      const { hash, ...content } = event.content
      expect(hash).toBe(nodeIds.sha256(canonicalJson(content)))
    }
  })

  it.each([...NAMES, ...HAND_MADE])('L3: %s goes on from a snapshot at every event', (name) => {
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
