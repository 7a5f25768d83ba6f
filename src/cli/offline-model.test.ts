import { describe, expect, it } from 'vitest'
import { callId, sessionId } from '../kernel/ids.ts'
import { Messages, textPart, type Message } from '../kernel/message.ts'
import { WORDINGS } from '../runtime/wording.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import type { ModelChunk, ModelEnd } from '../runtime/ports.ts'
import { isOfflineModel, offlineModel } from './offline-model.ts'

const user = (text: string): Message => ({ role: 'user', content: [textPart(text)], origin: { kind: 'user' } })
const steer = (text: string): Message => ({
  role: 'user',
  content: [textPart(WORDINGS.en.steerMark + text)],
  origin: { kind: 'steer' },
})
const CALL = callId('t1s1c1')
const called: Message = {
  role: 'assistant',
  parts: [{ type: 'call', call: CALL }],
  calls: [{ id: CALL, name: 'list_files', args: '{}', providerId: '' }],
}
const result: Message = {
  role: 'tool',
  call: CALL,
  name: 'list_files',
  outcome: 'ok',
  content: [textPart('a.txt\nb/')],
}

async function answer(
  messages: readonly Message[],
  more: { tools?: readonly string[]; toolChoice?: 'auto' | 'none'; locale?: 'en' | 'zh' } = {},
) {
  const { tools = ['list_files', 'shell'], toolChoice = 'auto', locale = 'en' } = more
  const model = offlineModel({ clock: new FakeClock(), locale, paced: false })
  expect(isOfflineModel(model)).toBe(true)
  const offered = tools.map((name) => ({ name, description: '', parameters: {} }))
  const request = {
    session: sessionId('s'),
    epoch: 1,
    system: '',
    tools: offered,
    messages: new Messages(messages),
    toolChoice,
  }
  const chunks: ModelChunk[] = []
  for await (const chunk of model.stream(request, new AbortController().signal)) chunks.push(chunk)
  const end = chunks.at(-1) as ModelEnd
  if (!('reply' in end)) throw new Error(end.failure.message)
  const text = end.reply.parts.map((part) => ('text' in part ? part.text : '')).join('')
  return { text, calls: end.reply.calls.map(({ name, args }) => `${name} ${args}`) }
}

describe('the built-in script', () => {
  it('looks into the folder first, then says what it is and what it saw', async () => {
    expect((await answer([user('hello')])).calls).toEqual(['list_files {}'])
    const { text, calls } = await answer([user('hello'), called, result])
    expect(calls).toEqual([])
    expect(text).toContain('built-in script')
    expect(text).toContain('"hello"')
    expect(text).toContain('  a.txt\n  b/')
  })

  it('quotes a steer, whenever it came', async () => {
    expect((await answer([user('hello'), called, result, steer('only a')])).text).toContain('"only a"')
    expect((await answer([user('hello'), called, result, steer('one'), steer('two')])).text).toMatch(
      /"one"[\s\S]*"two"/,
    )
    expect((await answer([user('hello'), steer('only a')])).calls).toEqual([])
  })

  it('runs a command in backticks, if there is a shell', async () => {
    expect((await answer([user('please run `git status`')])).calls).toEqual(['shell {"command":"git status"}'])
    expect((await answer([user('运行 `ls`')], { locale: 'zh' })).calls).toEqual(['shell {"command":"ls"}'])
    expect((await answer([user('run `ls`')], { tools: ['list_files'] })).calls).toEqual(['list_files {}'])
  })

  it('answers without tools where there are none, or where it may call none', async () => {
    expect((await answer([user('hello')], { tools: [] })).text).toContain('"hello"')
    expect((await answer([user('hello')], { toolChoice: 'none' })).text).toContain('"hello"')
    expect((await answer([user('你好'), called, result], { locale: 'zh' })).text).toContain('内置的脚本')
  })
})
