import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../util/text.ts'
import { wellFormed } from '../util/wellformed.ts'
import { Secrets } from './secrets.ts'

const key = fc.string({
  minLength: 8,
  maxLength: 80,
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
})
const around = fc.string({ unit: 'binary', maxLength: 400 })

/** How endpoints and transports dress what they quote. */
const DRESS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify({ headers: { authorization: `Bearer ${text}` } }),
  (text) => `<pre>authorization: Bearer ${text}</pre>`,
  (text) => `https://127.0.0.1/?key=${encodeURIComponent(text)}`,
]

describe('secrets', () => {
  it('are shown nowhere, whatever stands around them, wherever it is cut', () => {
    fc.assert(
      fc.property(key, around, around, fc.constantFrom(...DRESS), fc.nat(500), (apiKey, before, after, dress, cut) => {
        const secrets = new Secrets({ provider: 'acme', baseUrl: 'https://a.example', apiKey })
        const said = `${before}${dress(apiKey)}${after}`
        const forms = [apiKey, JSON.stringify(apiKey).slice(1, -1), encodeURIComponent(apiKey)]
        const pieces = forms.flatMap((form) =>
          Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8)),
        )
        for (const text of [said, quoted(said, cut), said.slice(0, cut)])
          for (const piece of pieces) expect(secrets.hide(text)).not.toContain(piece)
      }),
    )
  })

  it('leave every other text as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        fc.pre(!text.includes('sk-s') && wellFormed(text) === text)
        const secrets = new Secrets({ provider: 'acme', baseUrl: 'https://a.example', apiKey: 'sk-secret-of-mine' })
        expect(secrets.hide(text)).toBe(text)
      }),
    )
  })
})
