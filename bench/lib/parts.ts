/** Where the time of a step goes, in words: the files of a profile, by what they are for. */
import type { Share } from './profile.ts'

/** A part of the work of a step. */
export interface Part {
  readonly name: string
  /** Files, and folders with all that is in them: what a path begins with. */
  readonly files: readonly string[]
  readonly en: string
  readonly zh: string
}

const runner = (...names: readonly string[]): string[] => names.map((name) => `src/runtime/runner/${name}.ts`)

/** The first that matches a file has it. What none matches is Node's own: the last. */
export const PARTS: readonly Part[] = [
  {
    name: 'kernel',
    files: ['src/kernel/'],
    en: 'kernel: is each event legal, and what state does it make',
    zh: '内核：每个事件是否合法，它产生什么状态',
  },
  { name: 'loop', files: ['src/plugins/'], en: 'loop: what comes next', zh: '循环：接下来做什么' },
  {
    name: 'model',
    files: [...runner('inference', 'reply', 'retry'), 'src/runtime/borders.ts'],
    en: 'model call: request, stream, reply, arguments parsed once',
    zh: '模型调用：请求、流、回复、参数只解析一次',
  },
  {
    name: 'calls',
    files: [
      ...runner('judge', 'call-pool', 'call-facts', 'tool-result', 'stragglers', 'body', 'settle'),
      'src/runtime/define/',
      ...['cut', 'head-tail', 'text'].map((name) => `src/util/${name}.ts`),
      'ajv/',
    ],
    en: 'calls: schema, guard, policy, timeout, bounds of the result',
    zh: '调用：模式校验、防护、策略、超时、结果上限',
  },
  {
    name: 'commits',
    files: [...runner('journal'), 'src/stores/'],
    en: 'commits: the buffer, and the store',
    zh: '提交：缓冲区与存储',
  },
  {
    name: 'session',
    files: ['src/runtime/session/'],
    en: 'session: receipts, and those who watch',
    zh: '会话：回执，以及观察者',
  },
  {
    name: 'runner',
    files: ['src/runtime/'],
    en: 'runner: one thing after the other, inbox, gate, hooks, aborts',
    zh: '运行器：逐件处理，收件箱、闸口、钩子、中止',
  },
  {
    name: 'util',
    files: ['src/'],
    en: 'small tools: hashes, canonical JSON, signals, clock',
    zh: '小工具：哈希、规范 JSON、信号、时钟',
  },
  {
    name: 'bench',
    files: ['.tools/', 'bench/'],
    en: 'the bench itself: script, model, tool body',
    zh: '基准程序自身：脚本、模型、工具体',
  },
  { name: 'garbage', files: ['(garbage collector)'], en: 'garbage collection', zh: '垃圾回收' },
  { name: 'node', files: [''], en: 'Node: promises, timers, compilation', zh: 'Node：promise、定时器、编译' },
]

const partOf = (file: string): Part => PARTS.find(({ files }) => files.some((start) => file.startsWith(start)))!

/** Microseconds by part, of a step of `unitUs`. */
export function partsOf(files: readonly Share[], unitUs: number): { readonly [part: string]: number } {
  const sums = Object.fromEntries(PARTS.map(({ name }) => [name, 0]))
  for (const { name, share } of files) sums[partOf(name).name]! += share * unitUs
  return sums
}

/** The parts as a table, the most expensive first. */
export function partsTable(parts: { readonly [part: string]: number }, language: 'en' | 'zh'): string {
  const total = Object.values(parts).reduce((sum, us) => sum + us, 0)
  const rows = PARTS.toSorted((one, other) => (parts[other.name] ?? 0) - (parts[one.name] ?? 0)).map((part) => {
    const us = parts[part.name] ?? 0
    return `| ${part[language]} | ${us.toFixed(1)} | ${((us / total) * 100).toFixed(0)} % |`
  })
  const head = language === 'en' ? '| part | µs | share |' : '| 部分 | 微秒 | 占比 |'
  return [head, '| --- | --- | --- |', ...rows].join('\n')
}
