import { describe, expect, it } from 'vitest'
import { callId } from './ids.ts'
import { Messages, type Message } from './message.ts'
import { TranscriptCheck } from './transcript.ts'

const user = (content = 'hello'): Message => ({
  role: 'user',
  origin: { kind: 'user' },
  content: [{ type: 'text', text: content }],
})
const call = (
  name: string,
  args = '{}',
): { id: ReturnType<typeof callId>; name: string; args: string; providerId: string } => ({
  id: callId(name),
  name,
  args,
  providerId: '',
})
const reply = (...names: readonly string[]): Message => ({
  role: 'assistant',
  parts: names.map((name) => ({ type: 'call', call: callId(name) }) as const),
  calls: names.map((name) => call(name)),
})
const said: Message = { role: 'assistant', parts: [{ type: 'text', text: 'well' }], calls: [] }
const result = (name: string): Message => ({
  role: 'tool',
  call: callId(name),
  name,
  outcome: 'ok',
  content: [{ type: 'text', text: 'r' }],
})

const faultOf = (...messages: readonly Message[]): string | null =>
  new TranscriptCheck().check(new Messages(messages), messages)?.problem ?? null

describe('a transcript', () => {
  it.each([
    ['a plain one', [user(), said, user()]],
    ['calls with their results', [user(), reply('a', 'b'), result('a'), result('b'), said]],
    ['several messages of the user in a row', [user(), user()]],
  ] as const)('C2: %s is legal', (_what, messages) => {
    expect(faultOf(...messages)).toBeNull()
  })

  it.each([
    ['no message', [], 'there is no message'],
    ['the model first', [said], 'the first message is not from the user'],
    ['a call without a result', [user(), reply('a')], 'calls without a result: a'],
    [
      'a message between a call and its result, case 013',
      [user(), reply('a'), user(), result('a')],
      'a user message before the result of a',
    ],
    ['a reply before the result', [user(), reply('a'), said], 'a assistant message before the result of a'],
    [
      'results in another order, case 007',
      [user(), reply('a', 'b'), result('b')],
      'a result for b where that of a belongs',
    ],
    ['a result twice, case 060', [user(), reply('a'), result('a'), result('a')], 'a result for a, which is not open'],
    ['a result without a call', [user(), result('a')], 'a result for a, which is not open'],
    ['a call id twice', [user(), reply('a'), result('a'), reply('a')], 'the call id a twice'],
    [
      'an empty reply',
      [user(), { role: 'assistant', parts: [{ type: 'reasoning', text: 'hm' }], calls: [] }],
      'a reply without text and calls',
    ],
    ['an empty message', [user('')], 'an empty user message'],
    [
      'calls that the parts do not name',
      [user(), { role: 'assistant', parts: [], calls: [call('a')] }],
      'a reply without text and calls',
    ],
    ['parts that name other calls', [user(), { ...reply('a'), calls: [call('b')] }], 'calls and parts disagree'],
    [
      'arguments that are no object, case 046',
      [user(), { ...reply('a'), calls: [call('a', '[1]')] }],
      'arguments of a that are no JSON object',
    ],
    [
      'arguments that are no JSON',
      [user(), { ...reply('a'), calls: [call('a', '{"a')] }],
      'arguments of a that are no JSON object',
    ],
  ] as const)('C2: %s is not', (_what, messages, problem) => {
    expect(faultOf(...(messages as readonly Message[]))).toBe(problem)
  })

  it('L3: reads each message once, and starts over for another context', () => {
    const context: Message[] = [user(), reply('a')]
    const check = new TranscriptCheck()
    expect(check.check(new Messages(context), context)?.problem).toBe('calls without a result: a')
    context.push(result('a'))
    expect(check.check(new Messages(context), context)).toBeNull()
    // What was read is not read again: a fault put there now goes unseen, until the context is another one.
    context[0] = user('')
    expect(check.check(new Messages(context), context)).toBeNull()
    expect(check.check(new Messages([...context]), [...context])?.problem).toBe('an empty user message')
  })
})

describe('a transcript with a fault', () => {
  it('X1: has it for good, however it grows, until the context is another one', () => {
    const context: Message[] = [user(), user('')]
    const check = new TranscriptCheck()
    const fault = { at: 1, problem: 'an empty user message' }
    expect(check.check(new Messages(context), context)).toEqual(fault)
    context.push(said, user())
    expect(check.check(new Messages(context), context)).toEqual(fault)
    const other = [user()]
    expect(check.check(new Messages(other), other)).toBeNull()
    expect(check.check(new Messages(context), context)).toEqual(fault)
  })
})

describe('messages', () => {
  it('L3: are a view of what was there, while the context goes on growing', () => {
    const context = [user('1'), user('2')]
    const view = new Messages(context)
    context.push(user('3'))
    expect([...view]).toEqual(context.slice(0, 2))
    expect([view.length, view.at(-1), view.at(2), view.at(-3)]).toEqual([2, context[1], undefined, undefined])
    expect(view.toArray()).toEqual(context.slice(0, 2))
  })
})
