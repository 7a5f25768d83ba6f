import { describe, expect, it } from 'vitest'
import { ReplyDecoder } from './decode.ts'
import { DIALECTS } from './dialects.ts'

const PIECES = {
  text: { content: 'half an ans' },
  'a call whose arguments are half there': {
    tool_calls: [{ index: 0, id: 'c1', function: { name: 'save', arguments: '{"path": "a' } }],
  },
  'a whole call': { tool_calls: [{ index: 0, id: 'c1', function: { name: 'save', arguments: '{"path": "a"}' } }] },
}

describe('a stream that stops without a finish reason', () => {
  it.each(Object.entries(PIECES))('T3, case 075: after %s was cut off, and is no reply', (_what, delta) => {
    for (const endMark of [false, true]) {
      const decoder = new ReplyDecoder(DIALECTS.generic, (json) => ({ kind: 'server', message: json, retry: true }))
      decoder.accept(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }))
      if (endMark) decoder.accept('[DONE]')
      expect(decoder.end(true)).toMatchObject({ kind: 'error', failure: { kind: 'interrupted', retry: true } })
    }
  })
})
