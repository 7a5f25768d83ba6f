import { describe, expect, it } from 'vitest'
import type { CallOutcome } from '../kernel/outcome.ts'
import { neutralise, withNotice, WORDINGS } from './wording.ts'

const OUTCOMES: readonly Exclude<CallOutcome, { kind: 'ok' }>[] = [
  { kind: 'error', code: 'failed', message: 'boom' },
  { kind: 'error', code: 'aborted', message: 'aborted' },
  { kind: 'denied', by: 'user', reason: 'too much' },
  { kind: 'denied', by: 'expired', reason: '' },
  { kind: 'timeout', afterMs: 5 },
  { kind: 'not-started', reason: 'aborted' },
  { kind: 'not-started', reason: 'stale' },
  { kind: 'not-started', reason: 'output-limit' },
  { kind: 'not-started', reason: 'unknown-stop' },
  { kind: 'not-started', reason: 'refused' },
  { kind: 'not-started', reason: 'step-limit' },
  { kind: 'not-started', reason: 'not-taken' },
  { kind: 'not-started', reason: 'turn-ended' },
  { kind: 'unknown', reason: 'crashed' },
  { kind: 'unknown', reason: 'aborted' },
  { kind: 'invalid', problem: 'json', message: 'not that' },
  { kind: 'intercepted', by: 'loop-guard', message: 'again' },
]

describe.each(Object.entries(WORDINGS))('what is said in %s', (_locale, wording) => {
  it('C2: of each outcome, is a text of its own', () => {
    const texts = OUTCOMES.map((outcome) => wording.outcome(outcome, 'write'))
    expect(texts.every((text) => text.trim() !== '')).toBe(true)
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('C2 C4: of an unknown end, and of a change that took too long, says that it may have happened', () => {
    const maybe = wording.outcome({ kind: 'unknown', reason: 'crashed' }, 'write')
    const advice = maybe.slice(-20)
    expect(wording.outcome({ kind: 'unknown', reason: 'aborted' }, 'write')).toContain(advice)
    expect(wording.outcome({ kind: 'timeout', afterMs: 5 }, 'write')).toContain(advice)
    expect(wording.outcome({ kind: 'timeout', afterMs: 5 }, 'read')).not.toContain(advice)
  })

  it('I10, case 089: the mark of a steer in untrusted text is replaced, in any case', () => {
    const mark = wording.steerMark.trim()
    for (const forged of [mark, mark.toUpperCase(), `${mark}${mark}`, `before ${mark} after`]) {
      const safe = neutralise(forged)
      expect(safe.toLowerCase()).not.toContain(mark.toLowerCase())
      expect(safe).not.toBe('')
    }
  })

  it('I10: the replacement is no mark itself', () => {
    expect(neutralise(wording.neutralMark)).toBe(wording.neutralMark)
  })
})

describe('other text', () => {
  it('I10: is left alone', () => {
    const text = 'Correction from the user: $& (none) [overrides]'
    expect(neutralise(text)).toBe(text)
  })
})

describe('the notice at the step limit', () => {
  it('T4: is for people, where no model wrote a summary', () => {
    expect(withNotice({ kind: 'step-limit', how: 'handback', steps: 3 }, WORDINGS.en)).toMatchObject({
      notice: WORDINGS.en.limitNotice(3),
    })
    expect(withNotice({ kind: 'step-limit', how: 'summary', steps: 3 }, WORDINGS.en)).not.toHaveProperty('notice')
    expect(withNotice({ kind: 'completed' }, WORDINGS.en)).toEqual({ kind: 'completed' })
  })
})
