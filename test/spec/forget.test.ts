import { describe, expect, it } from 'vitest'
import { emptyState, fold } from '../../src/kernel/fold.ts'
import { forgetful } from '../../src/kernel/forget.ts'
import { refusal } from '../../src/kernel/legality.ts'
import { draftsAt } from './drafts.ts'
import { goldenEvents, goldenNames } from './files.ts'

describe('a state that forgets what was said', () => {
  it.each(goldenNames())('L3: refuses the same events for the same reasons, at every event of %s', (name) => {
    const whole = emptyState()
    const state = emptyState()
    const forget = forgetful()
    for (const event of goldenEvents(name)) {
      for (const draft of draftsAt(whole)) expect(refusal(state, draft)).toEqual(refusal(whole, draft))
      expect([fold(whole, event), fold(state, event)]).toEqual([null, null])
      forget(state)
      expect([state.contextSize, state.context.map(({ role }) => role)]).toEqual([
        whole.contextSize,
        whole.context.map(({ role }) => role),
      ])
    }
    const words = (messages: readonly object[]): string => JSON.stringify(messages).replaceAll(' ', '')
    for (const message of state.context) expect(words([message])).toMatch(/"text":""/)
  })
})
