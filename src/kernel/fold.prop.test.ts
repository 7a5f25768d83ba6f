import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Log } from '../../test/kit/log.ts'
import { walk } from '../../test/kit/walk.ts'
import type { Event } from './events.ts'
import { sizeOf } from './context.ts'
import { emptyState, fold } from './fold.ts'
import { Messages } from './message.ts'
import { fromSnapshot, toSnapshot } from './snapshot.ts'
import type { State } from './state.ts'
import { TranscriptCheck } from './transcript.ts'

const walks = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 150 })).map(([seed, steps]) => walk(seed, steps))
const check = (property: (walked: Log) => void): void => fc.assert(fc.property(walks, property), { numRuns: 30 })

function foldAll(events: readonly Event[], state: State = emptyState()): State {
  for (const event of events) expect(fold(state, event)).toBeNull()
  return state
}

describe('any legal log', () => {
  it('L3: goes on from a snapshot at every event as if there had been none', () => {
    check(({ events, state }) => {
      const whole = toSnapshot(state)
      for (let cut = 0; cut <= events.length; cut += 7) {
        const restored = fromSnapshot(toSnapshot(foldAll(events.slice(0, cut))))!
        expect(toSnapshot(foldAll(events.slice(cut), restored))).toBe(whole)
      }
    })
  })

  it('L6: gives the same state from its events as they are stored', () => {
    check(({ events, state }) => {
      const stored = JSON.parse(JSON.stringify(events)) as Event[]
      expect(toSnapshot(foldAll(stored))).toBe(toSnapshot(state))
    })
  })

  it('C2 I4 T9: has a legal transcript whenever a model may be asked, read at once or as it grows', () => {
    check(({ events }) => {
      const state = emptyState()
      const growing = new TranscriptCheck()
      for (const event of events) {
        fold(state, event)
        if (event.type !== 'model.requested') continue
        const messages = new Messages(state.context)
        expect(growing.check(messages, state.context)).toBeNull()
        expect(new TranscriptCheck().check(messages, state.context)).toBeNull()
      }
    })
  })

  it('X1: only lets the context grow, until it is compacted', () => {
    check(({ events }) => {
      const state = emptyState()
      let before: readonly unknown[] = []
      for (const event of events) {
        fold(state, event)
        if (event.type !== 'context.compacted')
          expect(before.every((message, at) => state.context[at] === message)).toBe(true)
        before = state.context.slice()
      }
    })
  })

  it('X4: keeps what the user asked of the running turn through every compaction', () => {
    check(({ events }) => {
      const state = emptyState()
      for (const event of events) {
        fold(state, event)
        expect((state.turn?.directives ?? []).every((directive) => state.context.includes(directive))).toBe(true)
      }
    })
  })

  it('L3: keeps count of the size of the context, and of the calls that are open', () => {
    check(({ events }) => {
      const state = emptyState()
      for (const event of events) {
        fold(state, event)
        expect(state.contextSize).toBe(state.context.reduce((size, message) => size + sizeOf(message), 0))
        if (state.step !== null)
          expect(state.step.open).toBe(state.step.calls.filter((call) => call.outcome === null).length)
      }
    })
  })
})
