/**
 * The model of those who have no key: a script that says that it is one. It lists the folder with the agent's own tool and answers
 * with what it sees, runs a command that is put in backticks after "run", and quotes a steer. So everything around a model can be
 * tried: sessions, tools, approvals, steering, crashes.
 */
import { textOf, type Message } from '../kernel/message.ts'
import { scriptedModel, type Emit, type ScriptStep } from '../models/scripted/index.ts'
import type { Clock, Model, ModelRequest } from '../runtime/ports.ts'
import type { Locale } from '../runtime/wording.ts'
import { unmarked } from './describe.ts'

const NAME = 'offline'

interface OfflineOptions {
  readonly clock: Clock
  readonly locale: Locale
  /** Shows the answer as if it were written, for people who watch. */
  readonly paced: boolean
}

export function offlineModel({ clock, locale, paced }: OfflineOptions): Model {
  const words = locale === 'zh' ? ZH : EN
  const stream = paced ? { stream: { chunk: 6, delayMs: 25 } } : {}
  return scriptedModel((request) => ({ ...answer(request, words), ...stream }), { name: NAME, clock })
}

export function isOfflineModel({ route }: Model): boolean {
  return route.adapter === 'scripted' && route.model === NAME
}

function answer(request: ModelRequest, words: Words): ScriptStep {
  const { asked, results, steers } = lastSpan(request)
  const call = results.length > 0 || steers.length > 0 || request.toolChoice === 'none' ? null : callFor(asked, request)
  if (call !== null) return { emit: [{ text: words.before }, { call }] }
  const parts = [words.intro(clip(asked))]
  for (const result of results) parts.push(words.result(result.name, result.outcome, listed(textOf(result.content))))
  for (const steer of steers) parts.push(words.steer(clip(steer)))
  parts.push(words.outro)
  return { emit: [{ text: parts.join('\n\n') }] }
}

interface Span {
  readonly asked: string
  readonly results: readonly Extract<Message, { role: 'tool' }>[]
  readonly steers: readonly string[]
}

/** The last thing a user asked, and what came after it. A steer into a running turn does not ask, it corrects. */
function lastSpan({ messages }: ModelRequest): Span {
  const results: Extract<Message, { role: 'tool' }>[] = []
  const steers: string[] = []
  for (let index = -1; ; index--) {
    const message = messages.at(index)
    if (message === undefined) return { asked: steers.pop() ?? '', results, steers: steers.toReversed() }
    if (message.role === 'tool') results.unshift(message)
    if (message.role !== 'user') continue
    const text = textOf(message.content)
    const steer = message.origin.kind === 'steer' ? unmarked(text) : null
    if (steer === null) return { asked: text, results, steers: steers.toReversed() }
    steers.push(steer)
  }
}

type EmitCall = Extract<Emit, { readonly call: unknown }>['call']

const COMMAND = /(?:\brun|运行|执行)\s*`([^`]+)`/i

function callFor(asked: string, { tools }: ModelRequest): EmitCall | null {
  const offers = (name: string): boolean => tools.some((tool) => tool.name === name)
  const command = COMMAND.exec(asked)?.[1]
  if (command !== undefined && offers('shell')) return { name: 'shell', args: { command } }
  return offers('list_files') ? { name: 'list_files', args: {} } : null
}

const LINES_MAX = 12

function listed(text: string): string {
  const lines = text.split('\n')
  const more = lines.length - LINES_MAX
  return [...lines.slice(0, LINES_MAX), ...(more > 0 ? [`… +${more}`] : [])].map((line) => `  ${line}`).join('\n')
}

function clip(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const characters = [...line]
  return characters.length > 120 ? `${characters.slice(0, 120).join('')}…` : line
}

interface Words {
  readonly before: string
  readonly outro: string
  intro(asked: string): string
  result(tool: string, outcome: string, text: string): string
  steer(text: string): string
}

const EN: Words = {
  before: 'I am a script, so I do the one thing I can.',
  intro: (asked) => `This is the built-in script of turnstep, not a model. You said: "${asked}"`,
  result: (tool, outcome, text) => `What ${tool} gave (${outcome}):\n${text}`,
  steer: (text) => `You corrected me on the way: "${text}"`,
  outro: 'To try an approval, say: run `git status`. For real answers, set a key.',
}

const ZH: Words = {
  before: '我是脚本，只做我会的一件事。',
  intro: (asked) => `这是 turnstep 内置的脚本，不是模型。你说的是：“${asked}”`,
  result: (tool, outcome, text) => `${tool} 的结果（${outcome}）：\n${text}`,
  steer: (text) => `你中途纠正了我：“${text}”`,
  outro: '想试试批准流程，可以说：运行 `git status`。想得到真正的回答，请设置密钥。',
}
