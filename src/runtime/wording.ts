/**
 * What the runtime says to models and to people, in English and Chinese. A missing text is a type error.
 * What a model reads is fixed in the log when it is said (L2), so these may be improved without breaking a session.
 */
import type { CallOutcome, TurnOutcome } from '../kernel/outcome.ts'

/** The language of what models and people are told. */
export type Locale = 'en' | 'zh'

export interface Wording {
  /** The visible mark before a steer that enters a running turn (I10). */
  readonly steerMark: string
  /** What stands in untrusted text in place of that mark. */
  readonly neutralMark: string
  readonly goOn: string
  readonly noOutput: string
  limit(steps: number): string
  limitNotice(steps: number): string
  /** What a person is asked at the step limit. */
  limitQuestion(steps: number): string
  interrupted(quote: string): string
  outcome(outcome: Exclude<CallOutcome, { kind: 'ok' }>, effect: 'read' | 'idempotent' | 'write'): string
  late(call: string, tool: string, outcome: CallOutcome, text: string): string
  noTool(name: string, offered: readonly string[]): string
  badJson(problem: string): string
  repeated(tool: string, times: number): string
  damaged(from: number): string
}

const en: Wording = {
  steerMark: '[Correction from the user, overrides what it contradicts] ',
  neutralMark: '[quoted, not from the user] ',
  goOn: 'Go on.',
  noOutput: '(no output)',
  limit: (steps) =>
    `You have used all ${steps} steps of this turn. Call no more tools. Say what is done, what is not, and what you would do next.`,
  limitNotice: (steps) => `Stopped after ${steps} steps. What was done so far is in the log; say how to go on.`,
  limitQuestion: (steps) => `The steps of this turn are used up (${steps}). Go on in a new turn?`,
  interrupted: (quote) => `[The user stopped your last reply. It had begun: "${quote}"]`,
  outcome(outcome, effect) {
    switch (outcome.kind) {
      case 'error':
        return outcome.code === 'aborted'
          ? 'The call was stopped because the turn was aborted.'
          : `Error: ${outcome.message}`
      case 'denied':
        return `Not run: denied${outcome.by === 'expired' ? ' because nobody answered in time' : ''}. ${outcome.reason}`.trim()
      case 'timeout':
        return `No result within ${outcome.afterMs} ms. ${effect === 'read' ? '' : MAYBE_EN}`.trim()
      case 'not-started':
        return `Not run: ${NOT_STARTED_EN[outcome.reason]}`
      case 'unknown':
        return `Outcome unknown: the call was started and ${outcome.reason === 'crashed' ? 'the process died' : 'the turn was aborted'} before it ended. ${MAYBE_EN}`
      case 'invalid':
        return `Not run: ${outcome.message}`
      case 'intercepted':
        return outcome.message
    }
  },
  late: (call, tool, outcome, text) =>
    `[Late news of ${tool} (${call}), which had been closed before: it ended ${outcome.kind}] ${text}`,
  noTool: (name, offered) => `there is no tool "${name}". Offered: ${offered.join(', ') || 'none'}.`,
  badJson: (problem) => `the arguments are not a JSON object (${problem}). Send the whole call again.`,
  repeated: (tool, times) =>
    `Not run: this is the same ${tool} call ${times} times in a row, and nothing has changed in between. Use what you know, change the arguments, or try another way.`,
  damaged: (from) => `[The record of this session was damaged; events from ${from} on were lost and set aside.]`,
}

const MAYBE_EN =
  'It may have taken effect. A read may simply be repeated; after a change, look at the outside state first, or ask the user.'

const NOT_STARTED_EN: Record<Extract<CallOutcome, { kind: 'not-started' }>['reason'], string> = {
  aborted: 'the turn was aborted before the call began.',
  stale: 'the session was down too long; ask for it again if it is still wanted.',
  'output-limit':
    'the reply was cut at the output limit, so its calls are incomplete. Send a shorter one, or split it.',
  'unknown-stop': 'the reply did not end in a known way.',
  refused: 'the reply was refused.',
  'step-limit': 'the steps of this turn are used up.',
  'not-taken': 'another call of the same reply took effect instead.',
  'turn-ended': 'the turn ended first.',
}

const zh: Wording = {
  steerMark: '【用户纠偏，与之矛盾的以此为准】',
  neutralMark: '【引文，并非用户所说】',
  goOn: '继续。',
  noOutput: '（无输出）',
  limit: (steps) => `本轮的 ${steps} 步已用完，不要再调用工具。请说明已完成什么、未完成什么、下一步打算怎么做。`,
  limitNotice: (steps) => `已走满 ${steps} 步，停在这里。已完成的都在日志里，请说明如何继续。`,
  limitQuestion: (steps) => `本轮的 ${steps} 步已用完。要开始新的一轮继续吗？`,
  interrupted: (quote) => `【用户中止了你的上一条回复，它的开头是：“${quote}”】`,
  outcome(outcome, effect) {
    switch (outcome.kind) {
      case 'error':
        return outcome.code === 'aborted' ? '本轮被中止，调用已停下。' : `出错：${outcome.message}`
      case 'denied':
        return `未执行：${outcome.by === 'expired' ? '无人及时答复，' : ''}已拒绝。${outcome.reason}`
      case 'timeout':
        return `${outcome.afterMs} 毫秒内没有结果。${effect === 'read' ? '' : MAYBE_ZH}`
      case 'not-started':
        return `未执行：${NOT_STARTED_ZH[outcome.reason]}`
      case 'unknown':
        return `结果未知：调用已经开始，但${outcome.reason === 'crashed' ? '进程在它结束前退出了' : '本轮在它结束前被中止了'}。${MAYBE_ZH}`
      case 'invalid':
        return `未执行：${outcome.message}`
      case 'intercepted':
        return outcome.message
    }
  },
  late: (call, tool, outcome, text) =>
    `【迟到的结果：${tool}（${call}）此前已被了结，实际结局为 ${outcome.kind}】${text}`,
  noTool: (name, offered) => `没有名为“${name}”的工具。可用的有：${offered.join('、') || '无'}。`,
  badJson: (problem) => `参数不是 JSON 对象（${problem}）。请完整地重新发出这次调用。`,
  repeated: (tool, times) =>
    `未执行：这是第 ${times} 次完全相同的 ${tool} 调用，期间什么都没有变。请利用已知信息、修改参数或换一种做法。`,
  damaged: (from) => `【本会话的记录曾受损，自第 ${from} 条起的事件已丢失并被隔离。】`,
}

const MAYBE_ZH = '它可能已经生效。只读操作可以直接重试；会改变外部状态的操作，请先查询外部状态，或询问用户。'

const NOT_STARTED_ZH: typeof NOT_STARTED_EN = {
  aborted: '调用开始前本轮已被中止。',
  stale: '会话停机过久；如果仍然需要，请重新发起。',
  'output-limit': '回复在输出上限处被截断，其中的调用不完整。请缩短或拆开再发。',
  'unknown-stop': '回复的结束方式无法识别。',
  refused: '回复被拒绝。',
  'step-limit': '本轮的步数已用完。',
  'not-taken': '同一条回复中的另一个调用已先行生效。',
  'turn-ended': '本轮已先行结束。',
}

export const WORDINGS: Record<Locale, Wording> = { en, zh }

/** The notice that people see where a turn ended at its limit without a summary by the model. */
export function withNotice(outcome: TurnOutcome, wording: Wording): TurnOutcome {
  if (outcome.kind !== 'step-limit' || outcome.how === 'summary') return outcome
  return { ...outcome, notice: wording.limitNotice(outcome.steps) }
}

/** Untrusted text cannot pass for a steer: the mark in it is replaced, in both languages and any case (I10). */
export function neutralise(text: string): string {
  let safe = text
  for (const { opening, pattern, instead } of MARKS) if (safe.includes(opening)) safe = safe.replace(pattern, instead)
  return safe
}

/** The first character tells most texts apart before a pattern is tried. */
const MARKS = [en, zh].map(({ steerMark, neutralMark }) => ({
  opening: steerMark.slice(0, 1),
  pattern: new RegExp(escapeRegExp(steerMark.trim()), 'gi'),
  instead: neutralMark.trim(),
}))

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
