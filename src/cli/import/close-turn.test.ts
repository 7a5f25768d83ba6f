import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../kernel/events.ts'
import { emptyState, fold } from '../../kernel/fold.ts'
import { inputId } from '../../kernel/ids.ts'
import { fromSnapshot, toSnapshot } from '../../kernel/snapshot.ts'
import type { State } from '../../kernel/state.ts'
import { react } from '../../plugins/react/react.ts'
import { shapeProblem } from '../../protocol/event-shapes.ts'
import { closeTurn } from './close-turn.ts'

const GOLDEN = new URL('../../../spec/golden/', import.meta.url)
const NAMES = readdirSync(GOLDEN).filter((file) => file.endsWith('.jsonl'))

function load(name: string): Event[] {
  const lines = readFileSync(new URL(name, GOLDEN), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Event)
}

function foldAll(events: readonly Event[], state = emptyState()): State {
  for (const event of events) expect(fold(state, event)).toBeNull()
  return state
}

const CLOSING = { at: 1_800_000_000_000, fence: 9, input: inputId('import'), reason: 'imported' }
const statusOf = (state: State, call: string) => state.step!.calls.find(({ record }) => record.id === call)!.status

describe('closeTurn', () => {
  it.each(NAMES)('C12 T1 T7: ends what is open at every event of %s, and nothing is owed after it', (name) => {
    const events = load(name)
    for (let cut = 0; cut <= events.length; cut++) {
      const state = foldAll(events.slice(0, cut))
      const before = fromSnapshot(toSnapshot(state))!
      const isOwed = before.turn !== null || before.goOn
      const closing = closeTurn(state, CLOSING)
      expect(closing.length > 0).toBe(isOwed)
      expect(closing.map(shapeProblem).filter((problem) => problem !== null)).toEqual([])
      // What was folded is what was answered: the log that is written gives the same state.
      expect(toSnapshot(foldAll(closing, fromSnapshot(toSnapshot(before))!))).toBe(toSnapshot(state))
      expect(state).toMatchObject({ turn: null, step: null, goOn: false })
      if (isOwed) expect(state).toMatchObject({ lastTurn: { outcome: { kind: 'aborted' } }, held: {} })
      expect(closing.filter(({ type }) => type === 'call.started' || type === 'model.requested')).toEqual([])
      for (const event of closing) {
        if (event.type !== 'call.ended') continue
        const isBegun = ['started', 'deferred'].includes(statusOf(before, event.call))
        expect(event.outcome).toEqual({ kind: isBegun ? 'unknown' : 'not-started', reason: 'aborted' })
      }
      expect(nextOf(state)).toMatchObject({ kind: 'rest' })
    }
  })

  it('I13: keeps the reason of an abort that was asked already', () => {
    const events = load('v1-abort_settles_calls_as_unknown_after_grace.jsonl')
    const asked = events.findIndex(({ type }) => type === 'turn.abort-asked')
    const closing = closeTurn(foldAll(events.slice(0, asked + 1)), CLOSING)
    expect(closing.map(({ type }) => type)).not.toContain('turn.abort-asked')
    const { reason } = events[asked] as Extract<Event, { type: 'turn.abort-asked' }>
    expect(closing.at(-1)).toMatchObject({ type: 'turn.ended', outcome: { kind: 'aborted', reason } })
  })

  it('T4: a yes at the step limit that was given elsewhere starts no turn here', () => {
    const events = load('v1-step_limit_ask_goes_on.jsonl')
    const yes = events.findIndex((event) => event.type === 'turn.ended' && event.outcome.kind === 'step-limit')
    const state = foldAll(events.slice(0, yes + 1))
    expect(state).toMatchObject({ turn: null, goOn: true })
    expect(nextOf(state)).toMatchObject({ kind: 'begin' })
    expect(closeTurn(state, CLOSING).map(({ type, turn }) => [type, turn])).toEqual([
      ['turn.started', 2],
      ['turn.abort-asked', 2],
      ['turn.ended', 2],
    ])
    expect(nextOf(state)).toMatchObject({ kind: 'rest' })
  })

  it('says it in the language of the session', () => {
    const events = load('v1-approvals_in_any_order.jsonl').map((event) =>
      event.type === 'session.created' ? { ...event, locale: 'zh' } : event,
    )
    const asked = events.findIndex(({ type }) => type === 'call.approval-asked')
    const closing = closeTurn(foldAll(events.slice(0, asked + 1)), CLOSING)
    const end = closing.find((event) => event.type === 'call.ended')
    expect(end).toMatchObject({ content: [{ text: expect.stringContaining('未执行') }] })
  })
})

/** What the loop would do of itself, with nothing in the inbox. */
function nextOf(state: State) {
  return react.next({
    state,
    inbox: { control: 0, steer: 0, note: 0, followup: 0, steerNow: 0, newestTail: -1 },
    live: new Set(),
    judged: new Set(),
    gated: false,
    shown: false,
    fence: 9,
    held: [],
    now: CLOSING.at,
    owed: { seq: state.seq, downMs: 0 },
    settings: {
      attemptsMax: 3,
      staleAfterMs: 600_000,
      startsMax: 3,
      cutsMax: 3,
      poolSize: 4,
      afterFailure: 'hold',
    },
  })
}
