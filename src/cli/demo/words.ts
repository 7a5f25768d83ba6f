/** What the narrator says, in English and Chinese. A missing text is a type error. */
import type { Event, EventOf, EventType } from '../../kernel/events.ts'
import type { Lane } from '../../kernel/input.ts'
import { textOf } from '../../kernel/message.ts'
import type { OutcomeKind, TurnOutcome } from '../../kernel/outcome.ts'
import type { Locale } from '../../runtime/wording.ts'
import type { CheckName } from './checks.ts'

export type Act = 'stage' | 'work' | 'steer' | 'kill' | 'takeover' | 'followup' | 'log' | 'checks'

export interface Words {
  readonly title: string
  readonly acts: Readonly<Record<Act, { readonly title: string; readonly text: string }>>
  readonly labels: Readonly<
    Record<'you' | 'steer' | 'followup' | 'queue' | 'agent' | 'bank' | 'store' | 'told' | 'file', string>
  >
  bills(count: number): string
  readonly emptyRecord: string
  sessionStore(folder: string): string
  starts(pid: number): string
  readonly durable: string
  waiting(lanes: readonly Lane[]): string
  readonly entered: string
  readonly stillWaiting: string
  readonly noAnswerYet: string
  killed(pid: number, signal: string): string
  gone(pid: number): string
  drivenBy(owner: string): string
  readonly drivenByNobody: string
  payments(count: number): string
  verified(events: number): string
  damaged(reason: string): string
  readonly columns: readonly [seq: string, turn: string, step: string, process: string, event: string]
  readonly phrases: Phrases
  readonly lanes: Readonly<Record<Lane, string>>
  readonly outcomes: Readonly<Record<OutcomeKind, string>>
  readonly ends: Readonly<Record<TurnOutcome['kind'], string>>
  readonly checks: Readonly<Record<CheckName, string>>
  summary(passed: number, all: number, ms: number): string
  kept(folder: string): string
  readonly removed: string
  failed(message: string): string
  readonly brokenOff: string
}

/** The events that have a phrase of their own; others are shown by their type. */
type Told = Extract<
  EventType,
  | 'session.created'
  | 'epoch.started'
  | 'turn.started'
  | 'turn.ended'
  | 'input.entered'
  | 'step.started'
  | 'step.ended'
  | 'model.requested'
  | 'model.failed'
  | 'reply.completed'
  | 'call.started'
  | 'call.ended'
>

/** How an event is told; `tool` names the tool of its call. */
type Phrases = { readonly [Type in Told]: (event: EventOf<Type>, tool: string) => string }

/** The event in a readable phrase. */
export function phrase(words: Words, event: Event, tool: string): string {
  const tell = words.phrases[event.type as Told] as ((event: Event, tool: string) => string) | undefined
  return tell === undefined ? event.type : tell(event, tool)
}

const ARGS_CHARS_MAX = 48

/** The calls of a reply, with the start of their arguments. */
function callsOf({ calls }: EventOf<'reply.completed'>): string {
  return calls.map(({ name, args }) => `${name}(${shortArgs(Object.values(args ?? {}))})`).join(' + ')
}

function shortArgs(values: readonly unknown[]): string {
  const text = values.join(', ').replace(/\s+/g, ' ')
  return text.length > ARGS_CHARS_MAX ? `${text.slice(0, ARGS_CHARS_MAX)}…` : text
}

const en: Words = {
  title: 'A turn that survives: three months of bills, a change of mind, and a kill -9. No key, no network.',
  acts: {
    stage: { title: 'The stage', text: 'Real files, a real SQLite store, real processes. Only the model is a script.' },
    work: {
      title: 'An agent gets to work',
      text: 'You ask. A process of its own drives the session; this one only watches the log.',
    },
    steer: {
      title: 'You change your mind',
      text: 'April has been read; its result is not in the log yet. Now you steer, and ask for something later.',
    },
    kill: {
      title: 'kill -9 in the middle of a write',
      text: 'The log says that `pay` was started. The bank has the order and has not answered. Now the process dies.',
    },
    takeover: {
      title: 'Another process goes on',
      text: 'It folds the log, finds the same turn with a write left open, and does not run it again.',
    },
    followup: { title: 'The followup has its turn', text: 'It waited all the while, through the crash too.' },
    log: { title: 'The log', text: 'Every commit is read back, its chain of hashes checked, every event folded.' },
    checks: { title: 'What was shown', text: 'Each line was checked on the log, the files and the processes.' },
  },
  labels: {
    you: 'you',
    steer: 'steer',
    followup: 'followup',
    queue: 'queue',
    agent: 'agent',
    bank: 'bank',
    store: 'store',
    told: 'told',
    file: 'file',
  },
  bills: (count) => `${count} bills`,
  emptyRecord: 'the record of the bank, empty',
  sessionStore: (folder) => `the session, in ${folder}`,
  starts: (pid) => `process ${pid} opens the session and drives it`,
  durable: 'durable; nobody has read it yet',
  waiting: (lanes) => `${lanes.length} waiting: ${lanes.join(', ')}`,
  entered: 'It entered between the tool result and the next model call, not a call later.',
  stillWaiting: 'is still waiting, for the next turn',
  noAnswerYet: 'ordered; no answer yet',
  killed: (pid, signal) => `kill -9 ${pid}: ended by ${signal}`,
  gone: (pid) => `process ${pid} is gone (ESRCH)`,
  drivenBy: (owner) => `driven by ${owner}`,
  drivenByNobody: 'driven by nobody: the lease died with its process',
  payments: (count) => (count === 1 ? 'exactly one payment in the record' : `${count} payments in the record`),
  verified: (events) => `${events} events verified: bytes, chain, head, and every rule of the fold`,
  damaged: (reason) => `damaged: ${reason}`,
  columns: ['seq', 'turn', 'step', 'process', 'event'],
  phrases: {
    'session.created': (event) => `session created for the agent "${event.agent}"`,
    'epoch.started': (event) => `epoch ${event.n}: system text and ${event.content.tools.length} tools fixed`,
    'turn.started': (event) => `turn ${event.turn} started`,
    'turn.ended': (event) => `turn ended: ${en.ends[event.outcome.kind]}`,
    'input.entered': (event) => `${en.lanes[event.lane]} entered: “${textOf(event.content)}”`,
    'step.started': () => 'step started',
    'step.ended': () => 'step ended',
    'model.requested': (event) =>
      `model called with ${event.messages} ${event.messages === 1 ? 'message' : 'messages'}`,
    'model.failed': (event) => `model failed: ${event.failure.message}`,
    'reply.completed': (event) => (event.calls.length === 0 ? 'model answers' : `model asks for ${callsOf(event)}`),
    'call.started': (event, tool) => `${tool} started (${event.call})`,
    'call.ended': (event, tool) => `${tool} ended: ${en.outcomes[event.outcome.kind]} (${event.call})`,
  },
  lanes: { control: 'control', steer: 'steer', note: 'note', followup: 'followup' },
  outcomes: {
    ok: 'ok',
    error: 'error',
    denied: 'denied',
    timeout: 'timeout',
    'not-started': 'not started',
    unknown: 'unknown',
    invalid: 'invalid',
    intercepted: 'intercepted',
  },
  ends: {
    completed: 'completed',
    'max-tokens': 'cut at the output limit',
    'step-limit': 'step limit',
    budget: 'budget',
    blocked: 'blocked',
    refused: 'refused',
    stuck: 'stuck',
    'veto-capped': 'vetoes used up',
    aborted: 'aborted',
    error: 'error',
  },
  checks: {
    steerEntered: 'the steer entered between a tool result and the next model call',
    steerObeyed: 'the model obeyed it: the last two months, to the cent',
    killedMidWrite: 'the process was killed with the write begun and not ended',
    sameTurn: 'a new process took over and completed the same turn',
    toldUnknown: 'the model was told that the outcome is unknown',
    notRepeated: 'it looked at the record of the bank; the write ran once',
    paidOnce: 'the record of the bank has exactly one line',
    followupWaited: 'the followup waited and was answered as turn 2',
    chainIntact: 'the stored log is whole: bytes, chain of hashes, head',
    foldsLegally: 'every event folds: no rule of the contract was broken',
    processesGone: 'no process is left',
  },
  summary: (passed, all, ms) => `${passed} of ${all} checks hold, in ${(ms / 1000).toFixed(1)} s`,
  kept: (folder) => `kept: ${folder}`,
  removed: 'the folder was removed; --keep leaves it',
  failed: (message) => `the demo failed: ${message}`,
  brokenOff: 'broken off',
}

const zh: Words = {
  title: '打不断的一轮：三个月的账单、一次改主意、一次 kill -9。无需密钥，无需网络。',
  acts: {
    stage: { title: '布景', text: '真实的文件、真实的 SQLite 存储、真实的进程；只有模型是脚本。' },
    work: { title: '代理开工', text: '你提出要求。会话由另一个进程驱动，本进程只旁观日志。' },
    steer: { title: '你改了主意', text: '四月的账单已经读完，结果还没写进日志。此刻你发出纠偏，并排队一件后续的事。' },
    kill: {
      title: '写操作进行到一半时 kill -9',
      text: '日志里 pay 已经开始；银行收到了指令，还没有答复。进程在此刻被杀死。',
    },
    takeover: { title: '另一个进程接着做', text: '它折叠日志，看到同一轮里有一个悬而未决的写操作，不会再执行一遍。' },
    followup: { title: '轮到排队的那件事', text: '它一直等着，崩溃也没有丢。' },
    log: { title: '日志', text: '逐条读回每次提交，核对哈希链，并折叠每一个事件。' },
    checks: { title: '结论', text: '每一行都对照日志、文件和进程检查过。' },
  },
  labels: {
    you: '你',
    steer: '纠偏',
    followup: '排队',
    queue: '队列',
    agent: '代理',
    bank: '银行',
    store: '存储',
    told: '告知模型',
    file: '文件',
  },
  bills: (count) => `${count} 张账单`,
  emptyRecord: '银行流水，目前为空',
  sessionStore: (folder) => `会话所在的文件夹：${folder}`,
  starts: (pid) => `进程 ${pid} 打开会话并开始驱动`,
  durable: '已持久化，还没有人读到',
  waiting: (lanes) => `等待中 ${lanes.length} 条：${lanes.map((lane) => zh.lanes[lane]).join('、')}`,
  entered: '它恰好在工具结果之后、下一次模型调用之前进入，没有晚一次。',
  stillWaiting: '仍在等待下一轮',
  noAnswerYet: '已下指令，尚无答复',
  killed: (pid, signal) => `kill -9 ${pid}：被 ${signal} 终止`,
  gone: (pid) => `进程 ${pid} 已不存在（ESRCH）`,
  drivenBy: (owner) => `驱动者：${owner}`,
  drivenByNobody: '无人驱动：租约随进程一起消失',
  payments: (count) => (count === 1 ? '流水里恰好只有一笔付款' : `流水里有 ${count} 笔付款`),
  verified: (events) => `${events} 个事件全部核实：字节、哈希链、链头，以及折叠的每一条规则`,
  damaged: (reason) => `已损坏：${reason}`,
  columns: ['序号', '轮次', '步', '进程', '事件'],
  phrases: {
    'session.created': (event) => `创建会话，代理为“${event.agent}”`,
    'epoch.started': (event) => `第 ${event.n} 个 epoch：系统文本与 ${event.content.tools.length} 个工具就此固定`,
    'turn.started': (event) => `第 ${event.turn} 轮开始`,
    'turn.ended': (event) => `本轮结束：${zh.ends[event.outcome.kind]}`,
    'input.entered': (event) => `${zh.lanes[event.lane]}进入：“${textOf(event.content)}”`,
    'step.started': () => '一步开始',
    'step.ended': () => '一步结束',
    'model.requested': (event) => `调用模型，共 ${event.messages} 条消息`,
    'model.failed': (event) => `模型调用失败：${event.failure.message}`,
    'reply.completed': (event) => (event.calls.length === 0 ? '模型作答' : `模型要求 ${callsOf(event)}`),
    'call.started': (event, tool) => `${tool} 开始（${event.call}）`,
    'call.ended': (event, tool) => `${tool} 结束：${zh.outcomes[event.outcome.kind]}（${event.call}）`,
  },
  lanes: { control: '控制', steer: '纠偏', note: '便笺', followup: '排队消息' },
  outcomes: {
    ok: '成功',
    error: '出错',
    denied: '被拒绝',
    timeout: '超时',
    'not-started': '未开始',
    unknown: '未知',
    invalid: '无效',
    intercepted: '被拦下',
  },
  ends: {
    completed: '完成',
    'max-tokens': '在输出上限处截断',
    'step-limit': '步数用完',
    budget: '预算用完',
    blocked: '被拦下',
    refused: '模型拒绝',
    stuck: '原地打转',
    'veto-capped': '否决次数用完',
    aborted: '被中止',
    error: '出错',
  },
  checks: {
    steerEntered: '纠偏在工具结果之后、下一次模型调用之前进入',
    steerObeyed: '模型照办：只算最近两个月，分文不差',
    killedMidWrite: '进程被杀时，写操作已开始、未结束',
    sameTurn: '新进程接手，并完成了同一轮',
    toldUnknown: '模型被如实告知：结果未知',
    notRepeated: '模型先查了银行流水；写操作只执行过一次',
    paidOnce: '银行流水里恰好只有一行',
    followupWaited: '排队消息一直等着，作为第 2 轮得到了回答',
    chainIntact: '存储的日志完整：字节、哈希链、链头',
    foldsLegally: '每个事件都能折叠：没有违反任何契约规则',
    processesGone: '没有残留的进程',
  },
  summary: (passed, all, ms) => `${all} 项检查，${passed} 项成立，用时 ${(ms / 1000).toFixed(1)} 秒`,
  kept: (folder) => `已保留：${folder}`,
  removed: '文件夹已删除；用 --keep 可以保留',
  failed: (message) => `演示失败：${message}`,
  brokenOff: '已中断',
}

export const WORDS: Readonly<Record<Locale, Words>> = { en, zh }
