import { describe, expect, it } from 'vitest'
import { isTurnstepError } from '../kernel/errors.ts'
import { Secrets } from './secrets.ts'
import { checkSendable, plainUrl } from './sendable.ts'

const KEY = 'sk-abcdefghijklmnop'
const access = { provider: 'acme', baseUrl: 'https://a.example/v1', apiKey: KEY }

const hide = (text: string, change: object = {}): string => new Secrets({ ...access, ...change }).hide(text)

describe('what is hidden', () => {
  it.each([
    ['a key', `bad key ${KEY}.`, {}, 'bad key ***.'],
    ['a key twice', `${KEY} ${KEY}`, {}, '*** ***'],
    ['the start of a key', 'bad key sk-abcde…', {}, 'bad key ***…'],
    ['the end of a key', 'ends in ijklmnop', {}, 'ends in ***'],
    ['a few letters of a key before a cut', 'bad key sk-ab…', {}, 'bad key ***…'],
    ['a key with quotes, in JSON', String.raw`{"key":"a\"b\\c\"d\"e"}`, { apiKey: 'a"b\\c"d"e' }, '{"key":"***"}'],
    ['a key with a quote, in JSON that is quoted', String.raw`\"ab\\\"cdefgh\"`, { apiKey: 'ab"cdefgh' }, '\\"***\\"'],
    ['a key with a quote, in a page', '<b>ab&quot;cdefgh</b>', { apiKey: 'ab"cdefgh' }, '<b>***</b>'],
    ['a short key, as a word', 'key abc of abcd', { apiKey: 'abc' }, 'key *** of abcd'],
    ['a header', 'x-team: blue-whales', { headers: { 'x-team': 'blue-whales' } }, 'x-team: ***'],
    [
      'what stands behind a scheme',
      'got "c2VjcmV0OnB3"',
      { headers: { authorization: 'Basic c2VjcmV0OnB3' } },
      'got "***"',
    ],
    ['a cookie', 'sid 0123456789ab', { headers: { cookie: 'a=1; sid=0123456789ab' } }, 'sid ***'],
    [
      'who asks, as a whole',
      'from https://me.example',
      { headers: { 'HTTP-Referer': 'https://me.example' } },
      'from ***',
    ],
    [
      'credentials in the URL',
      'https://ann:hunter%402@a.example',
      { baseUrl: 'https://ann:hunter%402@a.example' },
      'https://***@a.example',
    ],
    ['a password, decoded', 'password hunter@2', { baseUrl: 'https://ann:hunter%402@a.example' }, 'password ***'],
    ['a key in the query', '/v1?key=0123456789', { baseUrl: 'https://a.example/v1?key=0123456789' }, '/v1?key=***'],
    ['the password of a proxy', 'hunter22', { proxy: { httpsProxy: 'http://ann:hunter22@p:1' } }, '***'],
    [
      'the pair of a proxy, as it is sent',
      btoa('ann:hunter22'),
      { proxy: { httpProxy: 'http://ann:hunter22@p' } },
      '***',
    ],
  ])('%s', (_what, text, change, shown) => {
    expect(hide(text, change)).toBe(shown)
  })

  it.each([
    [
      'the name of a local provider that is its key too',
      'ollama answered 500',
      { provider: 'ollama', apiKey: 'ollama' },
    ],
    ['types', 'the answer is application/json', { headers: { Accept: 'application/json' } }],
    [
      'words of a name',
      'no connection to https://a.example: My list',
      { headers: { 'HTTP-Referer': 'https://a.example/mine', 'X-Title': 'My list of things' } },
    ],
    ['a scheme', 'see https://b.org', { headers: { 'x-home': 'https://a.example' } }],
    ['a query that is no secret', 'version 2024-10-21', { baseUrl: 'https://a.example?api-version=2024-10-21' }],
  ])('not %s', (_what, text, change) => {
    expect(hide(text, change)).toBe(text)
  })
})

describe('what cannot be sent', () => {
  const refuse = (change: object) => {
    try {
      checkSendable({ ...access, ...change })
    } catch (error) {
      if (isTurnstepError(error, 'config-invalid')) return error
    }
    return null
  }

  it.each([
    ['a line break', `${KEY}\nmore`, 20],
    ['a line break', `${KEY}\r\n`, 20],
    ['a space', `${KEY} `, 20],
    ['a control character', `${KEY}\0`, 20],
    ['a character that is not ASCII', `“${KEY}”`, 1],
  ])('a key with %s is refused by its place, and is not quoted: %j', (what, apiKey, position) => {
    const error = refuse({ apiKey })!
    expect(error.message).toContain(
      `the API key of "acme" has ${what} at position ${position} and cannot be sent: check`,
    )
    expect(JSON.stringify([error.message, error.data, String(error.cause)])).not.toContain('abcdefgh')
  })

  it('a header with a line break inside is refused by its name', () => {
    expect(refuse({ headers: { 'x-key': `${KEY}\nmore` } })!.message).toContain(
      'header "x-key" of "acme" has a line break',
    )
    expect(refuse({ headers: { 'x-key': `${KEY}\n`, 'x-name': 'Ann B.\té' } })).toBeNull()
  })
})

describe('a URL that may be quoted', () => {
  it.each([
    ['https://u:p@a.example/v1?key=1#x', 'https://***@a.example/v1?***'],
    ['u:p@a.example', '***@a.example'],
    ['https://a.example/@v1', 'https://a.example/@v1'],
    ['nowhere', 'nowhere'],
  ])('%s', (url, shown) => {
    expect(plainUrl(url)).toBe(shown)
  })
})
