/** The figures as tables of Markdown, and their place in the pages that show them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { partsTable } from './parts.ts'

/** All figures by name, and what they were measured with: texts. */
export interface Measured {
  readonly [figure: string]: number | string | Parts | undefined
  readonly date?: string
  readonly node?: string
  /** Of SQLite. */
  readonly driver?: string
  readonly machine?: string
  /** Microseconds of a step in memory, by part. */
  readonly stepParts?: Parts
}

type Parts = { readonly [part: string]: number }

type Language = 'en' | 'zh'

/** A line of the table. */
interface Row {
  /** The figure by which the goal is judged. */
  readonly figure: string
  readonly en: string
  readonly zh: string
  readonly unit: '×' | 'B' | 'KB' | 'MB' | 'ms' | ''
  /** At most; null: measured for comparison. */
  readonly goal: number | null
  /** What the figure was made of: ours, and what stood beside it, each with its unit. */
  readonly of?: readonly [ours: string, beside: string, unit: 'µs' | 'ms']
}

const ROWS: readonly Row[] = [
  {
    figure: 'memoryStepRatio',
    en: 'a step in memory; to the bare loop',
    zh: '内存中的一步；与裸循环相比',
    unit: '×',
    goal: 12,
    of: ['memoryStepUs', 'bareStepUs', 'µs'],
  },
  {
    figure: 'memoryStepEarlyRatio',
    en: 'the same after 12 turns, as the side-by-side measures it',
    zh: '同上，仅预热 12 个轮次，与并排测试的做法相同',
    unit: '×',
    goal: null,
  },
  {
    figure: 'memoryGrowth',
    en: 'the last tenth of 1,000 steps; to the first',
    zh: '1,000 步中最后十分之一；与最初十分之一相比',
    unit: '×',
    goal: 1.2,
    of: ['lastTenthUs', 'firstTenthUs', 'µs'],
  },
  {
    figure: 'durableStepRatio',
    en: 'a durable step; to the same commits written raw',
    zh: '落盘的一步；与直接写入同样的提交相比',
    unit: '×',
    goal: 1.3,
    of: ['durableStepUs', 'rawStepUs', 'µs'],
  },
  { figure: 'commitsPerStep', en: 'commits of a durable step', zh: '落盘的一步的提交次数', unit: '', goal: 3 },
  {
    figure: 'bytesPerStep',
    en: 'bytes of the file per step, over the payload',
    zh: '每步占用的文件字节数，不计有效内容',
    unit: 'B',
    goal: 2_048,
  },
  {
    figure: 'bytesPerStepLarge',
    en: 'the same, of steps that carry 2 KB',
    zh: '同上，每步有效内容为 2 KB',
    unit: 'B',
    goal: 2_048,
  },
  {
    figure: 'deltaRatio',
    en: 'a streamed delta, of 10,000; to the bare generator',
    zh: '10,000 个流式增量中的一个；与裸生成器相比',
    unit: '×',
    goal: 4,
    of: ['deltaUs', 'bareDeltaUs', 'µs'],
  },
  {
    figure: 'deltaRatio1000',
    en: 'the same of 1,000, the cost of their turn included',
    zh: '同上，1,000 个增量，含这一轮次本身的开销',
    unit: '×',
    goal: null,
  },
  {
    figure: 'resumeRatio',
    en: 'resuming 10,000 messages; to reading and parsing the rows that hold them',
    zh: '恢复 10,000 条消息；与读取并解析保存这些消息的行相比',
    unit: '×',
    goal: 1.5,
    of: ['resumeMs', 'resumeRowsMs', 'ms'],
  },
  {
    figure: 'resumeSnapshotRatio',
    en: 'the same; to our snapshot and the rows behind it',
    zh: '同上；与我们的快照及其后的行相比',
    unit: '×',
    goal: null,
    of: ['resumeMs', 'resumeSnapshotRowsMs', 'ms'],
  },
  {
    figure: 'liveResumeMs',
    en: 'resuming 100,000 events of which 200 messages are live',
    zh: '恢复 100,000 个事件，其中 200 条消息仍在上下文里',
    unit: 'ms',
    goal: 50,
  },
  {
    figure: 'idleHeapKb',
    en: 'heap of an idle open session on SQLite',
    zh: 'SQLite 上一个空闲的已打开会话所占的堆',
    unit: 'KB',
    goal: 4,
  },
  {
    figure: 'idleHeapMemoryKb',
    en: 'the same in memory, its log included',
    zh: '同上，在内存中，含其日志',
    unit: 'KB',
    goal: null,
  },
  {
    figure: 'coldRatio',
    en: 'from the start of a process to its first model call; to an empty script',
    zh: '从进程启动到第一次模型调用；与空脚本相比',
    unit: '×',
    goal: 1.5,
    of: ['coldMs', 'emptyMs', 'ms'],
  },
  {
    figure: 'coldSqliteRatio',
    en: 'the same with a new SQLite file',
    zh: '同上，使用新建的 SQLite 文件',
    unit: '×',
    goal: null,
    of: ['coldSqliteMs', 'emptyMs', 'ms'],
  },
  {
    figure: 'parallelOverMs',
    en: '20 tool calls of 5 ms at once, over the bare loop',
    zh: '20 个 5 毫秒的工具调用同时进行，比裸循环多出',
    unit: 'ms',
    goal: 0.7,
  },
  { figure: 'installMb', en: 'default install', zh: '默认安装的大小', unit: 'MB', goal: 40 },
  { figure: 'installPackages', en: 'packages of it', zh: '默认安装的包数', unit: '', goal: 40 },
]

const WORDS = {
  en: { head: ['what', 'figure', 'measured', 'goal', 'met'], yes: 'yes', no: 'no', on: 'Measured' },
  zh: { head: ['内容', '字段', '实测', '目标', '达到'], yes: '是', no: '否', on: '测量于' },
} as const

/** A table of what was measured; figures that were not are left out. */
export function markdown(measured: Measured, language: Language = 'en'): string {
  const { head } = WORDS[language]
  const rows = ROWS.filter(({ figure }) => measured[figure] !== undefined).map((row) => cells(row, measured, language))
  const lines = [head, head.map(() => '---'), ...rows].map((line) => `| ${line.join(' | ')} |`)
  return [...lines, '', provenance(measured, language)].join('\n')
}

/** Puts the tables between the marks of the pages, by language. Throws for a page without its marks. */
export function writePages(measured: Measured, pages: { readonly [Key in Language]: string }): void {
  for (const language of ['en', 'zh'] as const) {
    const path = pages[language]
    let text = put(readFileSync(path, 'utf8'), 'figures', markdown(measured, language), path)
    if (measured.stepParts !== undefined) text = put(text, 'parts', partsTable(measured.stepParts, language), path)
    writeFileSync(path, text)
  }
}

function put(page: string, name: string, table: string, path: string): string {
  const start = `<!-- ${name}: npm run bench -- --page -->`
  const end = `<!-- /${name} -->`
  const between = new RegExp(`${start}[^]*${end}`)
  if (!between.test(page)) throw new Error(`${path} has no lines ${start} and ${end}: put them where the table belongs`)
  return page.replace(between, () => `${start}\n${table}\n${end}`)
}

function cells({ figure, unit, goal, of, ...says }: Row, measured: Measured, language: Language): readonly string[] {
  const value = Number(measured[figure])
  const parts =
    of === undefined ? '' : ` (${shown(Number(measured[of[0]]))} : ${shown(Number(measured[of[1]]))} ${of[2]})`
  const { yes, no } = WORDS[language]
  return [
    says[language],
    `\`${figure}\``,
    withUnit(shown(value), unit) + parts,
    goal === null ? '' : `≤ ${withUnit(goal.toLocaleString('en'), unit)}`,
    goal === null ? '' : value <= goal ? yes : no,
  ]
}

function provenance({ date, node, driver, machine }: Measured, language: Language): string {
  return `${WORDS[language].on} ${date}; Node ${node}; ${driver}; ${machine}.`
}

function withUnit(text: string, unit: string): string {
  if (unit === '') return text
  return unit === '×' ? `${text}×` : `${text} ${unit}`
}

function shown(value: number): string {
  if (Number.isInteger(value) || value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}
