/** What the demo plays with, in both languages: three months of bills as files, and what is said in the session. */
import type { Locale } from '../../runtime/wording.ts'

interface BillFile {
  readonly name: string
  readonly text: string
  /** How many bills are in it. */
  readonly bills: number
  /** Their sum in hundredths, worked out by hand: what the agent must find. */
  readonly total: number
}

export interface Scene {
  /** Folder of the bills, relative to the workspace. */
  readonly folder: string
  /** The bank's own record: one line per payment that it was ordered to make. */
  readonly bank: string
  readonly bankHeader: string
  readonly report: string
  readonly payee: string
  readonly currency: string
  /** Oldest first. */
  readonly files: readonly BillFile[]
  readonly instructions: string
  /** What the user asks for, how he corrects it, and what he wants next. */
  readonly request: string
  readonly steer: string
  readonly followup: string
  readonly answers: Answers
}

/** What the agent says on the way. */
interface Answers {
  readonly look: string
  readonly first: string
  readonly rest: string
  pay(total: string): string
  readonly verify: string
  found(total: string, reference: string): string
  missing(reference: string): string
  readonly report: string
  reportText(months: readonly { readonly name: string; readonly total: string }[], total: string): string
  readonly done: string
}

const en: Scene = {
  folder: 'bills',
  bank: 'bank.csv',
  bankHeader: 'reference,to,amount,ordered by call',
  report: 'report.md',
  payee: 'Harbour Estates',
  currency: 'EUR',
  files: [
    {
      name: '2026-04.csv',
      bills: 4,
      total: 268_25,
      text: `date,payee,for,amount
2026-04-02,City Power,electricity,84.20
2026-04-03,Northern Gas,"gas, heating",112.75
2026-04-10,Blue Water,water,31.40
2026-04-15,Fibre One,internet,39.90
`,
    },
    {
      name: '2026-05.json',
      bills: 4,
      total: 248_90,
      text: `{
  "month": "2026-05",
  "bills": [
    { "date": "2026-05-04", "payee": "City Power", "for": "electricity", "amount": 79.85 },
    { "date": "2026-05-05", "payee": "Northern Gas", "for": "gas, heating", "amount": 96.10 },
    { "date": "2026-05-11", "payee": "Blue Water", "for": "water", "amount": 33.05 },
    { "date": "2026-05-15", "payee": "Fibre One", "for": "internet", "amount": 39.90 }
  ]
}
`,
    },
    {
      name: '2026-06.md',
      bills: 5,
      total: 1_227_95,
      text: `# June 2026

| date | payee | for | amount |
|---|---|---|---|
| 2026-06-02 | City Power | electricity | 91.30 |
| 2026-06-03 | Northern Gas | gas | 41.60 |
| 2026-06-11 | Blue Water | water | 35.15 |
| 2026-06-15 | Fibre One | internet | 39.90 |
| 2026-06-22 | Otto Lifts | lift repair, our share | 1,020.00 |
`,
    },
  ],
  instructions: 'You keep the books of a household. Read before you pay. Never pay twice.',
  request: 'Add up the three months of bills in bills/ and pay the total to Harbour Estates.',
  steer: 'Only the last two months, please.',
  followup: 'Then write the result to report.md.',
  answers: {
    look: 'I will see what is there.',
    first: 'Three files. I begin with the oldest.',
    rest: 'Only the last two months, then. I leave April out.',
    pay: (total) => `May and June come to ${total}. I pay that.`,
    verify: 'It is unknown whether that payment was made. I look at the record of the bank before I do anything else.',
    found: (total, reference) =>
      `The bank has the order ${reference} over ${total}, once. I have not paid again. All done.`,
    missing: (reference) => `The bank has no order ${reference}. Shall I pay, or will you look into it first?`,
    report: 'I write the report.',
    reportText: (months, total) =>
      [
        '# Bills',
        '',
        ...months.map((month) => `- ${month.name}: ${month.total}`),
        '',
        `Paid to Harbour Estates: ${total}`,
        '',
      ].join('\n'),
    done: 'The report is in report.md.',
  },
}

const zh: Scene = {
  folder: '账单',
  bank: '银行流水.csv',
  bankHeader: '用途,收款方,金额,发起的调用',
  report: '报告.md',
  payee: '恒安物业',
  currency: '元',
  files: [
    {
      name: '2026-04.csv',
      bills: 4,
      total: 535_70,
      text: `日期,收款方,项目,金额
2026-04-02,市供电局,电费,168.40
2026-04-03,城市燃气,"燃气费, 含采暖",225.50
2026-04-10,自来水公司,水费,62.80
2026-04-15,光纤宽带,宽带费,79.00
`,
    },
    {
      name: '2026-05.json',
      bills: 4,
      total: 497_00,
      text: `{
  "月份": "2026-05",
  "bills": [
    { "日期": "2026-05-04", "收款方": "市供电局", "项目": "电费", "amount": 159.70 },
    { "日期": "2026-05-05", "收款方": "城市燃气", "项目": "燃气费", "amount": 192.20 },
    { "日期": "2026-05-11", "收款方": "自来水公司", "项目": "水费", "amount": 66.10 },
    { "日期": "2026-05-15", "收款方": "光纤宽带", "项目": "宽带费", "amount": 79.00 }
  ]
}
`,
    },
    {
      name: '2026-06.md',
      bills: 5,
      total: 2_455_10,
      text: `# 2026 年 6 月

| 日期 | 收款方 | 项目 | 金额 |
|---|---|---|---|
| 2026-06-02 | 市供电局 | 电费 | 182.60 |
| 2026-06-03 | 城市燃气 | 燃气费 | 83.20 |
| 2026-06-11 | 自来水公司 | 水费 | 70.30 |
| 2026-06-15 | 光纤宽带 | 宽带费 | 79.00 |
| 2026-06-22 | 通达电梯 | 电梯维修分摊 | 2,040.00 |
`,
    },
  ],
  instructions: '你替一户人家管账。先看清再付款，绝不重复付款。',
  request: '把账单文件夹里三个月的账单加起来，把总额付给恒安物业。',
  steer: '只算最近两个月的。',
  followup: '然后把结果写进 报告.md。',
  answers: {
    look: '我先看看有哪些文件。',
    first: '共三个文件，从最早的一个读起。',
    rest: '好的，只算最近两个月，四月不计。',
    pay: (total) => `五月和六月合计 ${total}，现在付款。`,
    verify: '这笔付款是否成功还不知道。先查银行流水，再说别的。',
    found: (total, reference) => `银行流水里有“${reference}”这一笔，金额 ${total}，只有一笔。我没有再付。都办好了。`,
    missing: (reference) => `银行流水里没有“${reference}”。要我付款，还是您先核实一下？`,
    report: '我来写报告。',
    reportText: (months, total) =>
      [
        '# 账单',
        '',
        ...months.map((month) => `- ${month.name}：${month.total}`),
        '',
        `付给恒安物业：${total}`,
        '',
      ].join('\n'),
    done: '报告已写入 报告.md。',
  },
}

export const SCENES: Readonly<Record<Locale, Scene>> = { en, zh }

/** What must be paid in the end: the last two months, in hundredths. */
export function expectedTotal({ files }: Scene): number {
  return files.slice(-2).reduce((sum, file) => sum + file.total, 0)
}

/** Hundredths as people write them, such as `1,476.85 EUR`. */
export function money(hundredths: number, { currency }: Scene): string {
  return `${decimal(hundredths).replace(/\B(?=(\d{3})+\.)/g, ',')} ${currency}`
}

/** Hundredths as a plain decimal, such as `1476.85`. */
export function decimal(hundredths: number): string {
  const digits = String(hundredths).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
