import { describe, expect, it } from 'vitest'
import { callId } from '../../kernel/ids.ts'
import type { AssistantMessage, Message, Part, Replay, Route, ToolMessage, UserMessage } from '../../kernel/message.ts'
import { textPart } from '../../kernel/message.ts'
import { request, user } from '../contract.case.ts'
import { DIALECTS, type DialectName } from './dialects.ts'
import { ChatEncoder, type EncoderOptions } from './encode.ts'
import type { Wire } from './strict.case.ts'

const routeOf = (provider: string): Route => ({
  adapter: 'chat',
  wire: 'generic',
  provider,
  model: 'm1',
  scope: 'default',
})

function encoder(dialect: DialectName = 'generic', change: Partial<EncoderOptions> = {}): ChatEncoder {
  const { images } = DIALECTS[dialect]
  return new ChatEncoder({
    route: routeOf('here'),
    dialect: DIALECTS[dialect],
    maxOutputTokens: null,
    images,
    ...change,
  })
}

function encode(messages: readonly Message[], dialect?: DialectName, change?: Partial<EncoderOptions>): Wire[] {
  const body = JSON.parse(encoder(dialect, change).encode(request(messages))) as Wire
  return (body['messages'] as Wire[]).slice(1)
}

function assistant(
  parts: AssistantMessage['parts'],
  calls: readonly (readonly [string, string, string])[] = [],
  replay?: Replay,
): AssistantMessage {
  const all = calls.map(([id, name, args]) => ({ id: callId(id), name, args, providerId: `p_${id}` }))
  const message = {
    role: 'assistant',
    parts: [...parts, ...all.map(({ id }) => ({ type: 'call', call: id }) as const)],
    calls: all,
  } as const
  return replay === undefined ? message : { ...message, replay }
}

function result(id: string, ...content: readonly Part[]): ToolMessage {
  return { role: 'tool', call: callId(id), name: 'look', outcome: 'ok', content }
}

const replay = (state: string, provider = 'here'): Replay => ({
  state,
  route: routeOf(provider),
  binding: 'none',
  epoch: 1,
})
const thought = { type: 'reasoning', text: 'hm' } as const
const image: Part = { type: 'image', mediaType: 'image/png', data: 'AAAA' }

describe('the body', () => {
  const body = (
    change: Parameters<typeof request>[1],
    options: Partial<EncoderOptions> = {},
    dialect: DialectName = 'generic',
  ) => JSON.parse(encoder(dialect, options).encode(request([user('hi')], change))) as Wire

  it('has tools, and names what differs between requests behind the messages', () => {
    const raw = encoder().encode(request([user('hi')], { toolChoice: 'none' }))
    expect(Object.keys(JSON.parse(raw) as Wire)).toEqual([
      'model',
      'tools',
      'messages',
      'stream',
      'stream_options',
      'tool_choice',
    ])
    expect(JSON.parse(raw)).toMatchObject({
      tool_choice: 'none',
      stream: true,
      tools: [{ type: 'function', function: { name: 'weather' } }],
    })
  })

  it('has no empty list of tools and no choice among none', () => {
    const none = body({ tools: [], toolChoice: 'none' })
    expect(none).not.toHaveProperty('tools')
    expect(none).not.toHaveProperty('tool_choice')
  })

  it('has no empty system message', () => {
    expect(body({ system: '' })['messages']).toEqual([{ role: 'user', content: 'hi' }])
  })

  it('says the output limit under the key of the dialect', () => {
    expect(body({}, { maxOutputTokens: 9 })).toMatchObject({ max_tokens: 9 })
    expect(body({}, { maxOutputTokens: 9 }, 'openai')).toMatchObject({ max_completion_tokens: 9 })
  })

  it('L2: takes provider options, but none that replaces what the log has; null takes a setting away', () => {
    const options = {
      temperature: 0,
      stream_options: null,
      max_tokens: 5,
      messages: [],
      model: 'other',
      stream: false,
      tools: [],
    }
    const sent = body({ options }, { maxOutputTokens: 9 })
    expect(sent).toMatchObject({ temperature: 0, max_tokens: 5, model: 'm1', stream: true })
    expect(sent).not.toHaveProperty('stream_options')
    expect(sent['messages']).toHaveLength(2)
  })
})

describe('messages', () => {
  it('X7: give the own state back byte for byte', () => {
    const state = '{"role":"assistant","content":"a","odd":1.0,"reasoning":"\\u2028 好"}'
    const raw = encoder().encode(request([user('hi'), assistant([textPart('a')], [], replay(state))]))
    expect(raw).toContain(state)
  })

  it('X7: drop foreign reasoning as a whole, and keep text and calls', () => {
    const foreign = assistant(
      [thought, textPart('let me see')],
      [['t1s1c1', 'look', '{"n":12345678901234567890}']],
      replay('{"role":"assistant"}', 'there'),
    )
    expect(encode([user('hi'), foreign, result('t1s1c1', textPart('seen'))])).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: 'let me see',
        tool_calls: [
          { id: 'p_t1s1c1', type: 'function', function: { name: 'look', arguments: '{"n":12345678901234567890}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'p_t1s1c1', content: 'seen' },
    ])
  })

  it.each(['model', 'scope', 'wire', 'adapter', 'provider'] as const)('X7: state of another %s is foreign', (key) => {
    const own = replay('{"role":"assistant","content":"own"}')
    const foreign = { ...own, route: { ...own.route, [key]: 'other' } }
    expect(encode([user('hi'), assistant([textPart('neutral')], [], foreign)])[1]).toEqual({
      role: 'assistant',
      content: 'neutral',
    })
  })

  it('rebuild a reply whose state cannot be read or has other calls', () => {
    for (const state of [
      'no json',
      '[]',
      '{"role":"user"}',
      '{"role":"assistant","content":"x","tool_calls":[{"id":"q"}]}',
    ]) {
      expect(encode([user('hi'), assistant([textPart('neutral')], [], replay(state))])[1]).toEqual({
        role: 'assistant',
        content: 'neutral',
      })
    }
  })

  it('C1: replace an id that cannot go back, in the state and in the result', () => {
    const state = JSON.stringify({
      role: 'assistant',
      content: null,
      reasoning: 'hm',
      tool_calls: [{ id: '', type: 'function', function: { name: 'look', arguments: '{}' } }],
    })
    const message = {
      ...assistant([], [['t1s1c1', 'look', '{}']], replay(state)),
      calls: [{ id: callId('t1s1c1'), name: 'look', args: '{}', providerId: '' }],
    }
    const [, reply, tool] = encode([user('hi'), message, result('t1s1c1', textPart('seen'))])
    expect(reply).toMatchObject({ reasoning: 'hm', tool_calls: [{ id: 'call_t1s1c1' }] })
    expect(tool).toMatchObject({ tool_call_id: 'call_t1s1c1' })
  })

  it('C8, case 046: are given arguments that parse, whatever the model wrote, and names that are legal', () => {
    const sent = encode([
      user('hi'),
      assistant(
        [],
        [
          ['c1', 'look at', '{"a": "b'],
          ['c2', '', ' '],
        ],
      ),
      result('c1'),
      result('c2'),
    ])
    expect(sent[1]).toMatchObject({
      content: null,
      tool_calls: [
        { function: { name: 'look_at', arguments: '{}' } },
        { function: { name: 'unnamed', arguments: '{}' } },
      ],
    })
  })

  it('have no empty text', () => {
    const sent = encode([
      user(''),
      assistant([thought]),
      assistant([textPart('')], [['c1', 'look', '{}']]),
      result('c1'),
    ])
    expect(sent).toEqual([
      { role: 'user', content: '(empty)' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'p_c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'p_c1', content: '(empty)' },
    ])
  })

  it('X8, case 098: are well-formed, strings and keys alike, while the log keeps the original', () => {
    const half = '\ud83d'
    const parameters = { type: 'object', [`k${half}`]: half }
    const tools = [{ name: 'look', description: half, parameters }]
    const asked = user(half)
    const messages = [asked, assistant([textPart(half)], [['c1', 'look', '{}']]), result('c1', textPart(half))]
    const raw = encoder().encode(request(messages, { tools, system: half, options: { [half]: half } }))
    expect(raw).not.toMatch(/\\ud83d|\p{Surrogate}/iu)
    expect(raw.match(/\ufffd/g)).toHaveLength(9)
    expect(asked.content).toEqual([textPart(half)])
  })

  it('carry images as data URLs; those of results stand behind all results', () => {
    const calls = assistant(
      [],
      [
        ['c1', 'look', '{}'],
        ['c2', 'look', '{}'],
      ],
    )
    const messages = [
      { ...user('see'), content: [textPart('see'), image] },
      calls,
      result('c1', textPart('one'), image),
      result('c2', textPart('two')),
      user('and?'),
    ]
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const sent = encode(messages)
    expect(sent[0]).toEqual({ role: 'user', content: [{ type: 'text', text: 'see' }, url] })
    expect(sent.slice(2).map((message) => message['role'])).toEqual(['tool', 'tool', 'user', 'user'])
    expect(sent[2]!['content']).toMatch(/^one\n\[image: shown in the user message/)
    expect(sent[4]).toEqual({ role: 'user', content: [{ type: 'text', text: '[images in the result of look]' }, url] })
  })

  it('leave images out, and say so, where the model takes text only', () => {
    const messages = [
      { ...user('see'), content: [textPart('see'), image] },
      assistant([], [['c1', 'look', '{}']]),
      result('c1', image),
    ]
    const sent = encode(messages, 'deepseek')
    expect(sent).toHaveLength(3)
    expect(sent[0]!['content']).toContain('image: left out')
    expect(sent[2]!['content']).toContain('image: left out')
  })
})

describe('reasoning that must be there', () => {
  const messages = [
    user('hi'),
    assistant([thought], [['c1', 'look', '{}']]),
    result('c1'),
    assistant([textPart('done')]),
  ]
  const seen = (dialect: DialectName) => encode(messages, dialect).map((message) => message['reasoning_content'])

  it('D02, D03: stands on every reply for DeepSeek, empty where it is foreign', () => {
    expect(seen('deepseek')).toEqual([undefined, '', undefined, ''])
  })

  it('K01: stands on replies with calls for Kimi', () => {
    expect(seen('kimi')).toEqual([undefined, '', undefined, undefined])
  })

  it.each(['openai', 'deepseek-r1', 'generic', 'qwen', 'vllm'] as const)('does not stand there for %s', (dialect) => {
    expect(seen(dialect)).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('X1: prefixes', () => {
  const loop = (n: number): Message[] => [
    assistant(
      [textPart(`step ${n}`)],
      [
        [`t1s${n}c1`, 'look', '{}'],
        [`t1s${n}c2`, 'look', '{}'],
      ],
    ),
    result(`t1s${n}c1`, textPart('seen'), image),
    result(`t1s${n}c2`, textPart('seen')),
  ]

  it('each body starts with the one before it, up to the end of the messages', () => {
    const one = encoder()
    const messages: Message[] = [user('go')]
    let before = ''
    for (let n = 1; n <= 4; n++) {
      const body = one.encode(request(messages))
      expect(body.startsWith(before)).toBe(true)
      before = body.slice(0, body.lastIndexOf('],"stream"'))
      messages.push(...loop(n), user(`steer ${n}`))
    }
  })

  it('G5: a fork and a compaction that share messages with the main context get bodies of their own', () => {
    const shared = encoder()
    const main: Message[] = [user('go'), ...loop(1), ...loop(2)]
    const contexts = [
      main,
      [...main.slice(0, 4), user('an aside')],
      [...main, user('next')],
      [main[0]!, user('a summary'), ...loop(3)],
      main,
    ]
    for (const messages of contexts) {
      expect(shared.encode(request(messages))).toBe(encoder().encode(request(messages)))
    }
  })

  it('another system text starts another prefix', () => {
    const shared = encoder()
    shared.encode(request([user('go')]))
    const messages = [user('go')]
    shared.encode(request(messages))
    expect(shared.encode(request(messages, { system: 'Other.' }))).toBe(
      encoder().encode(request(messages, { system: 'Other.' })),
    )
  })

  it('L3: a message is encoded once, however often it is sent', () => {
    let reads = 0
    const counted: UserMessage = {
      role: 'user',
      origin: { kind: 'user' },
      get content() {
        reads++
        return [textPart('hi')]
      },
    }
    const one = encoder()
    const first = one.encode(request([counted]))
    const once = reads
    const longer = one.encode(request([counted, ...loop(1)]))
    expect(reads).toBe(once)
    expect(longer).toContain(first.slice(0, first.lastIndexOf(']')))
  })

  it('L2: the same log gives the same bytes in another process', () => {
    const messages = [user('go'), ...loop(1), ...loop(2)]
    const reloaded = JSON.parse(JSON.stringify(messages)) as Message[]
    expect(encoder().encode(request(reloaded))).toBe(encoder().encode(request(messages)))
  })
})
