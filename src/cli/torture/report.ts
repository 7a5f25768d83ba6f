/** A torture as a report, and the report as people read it. */
import stringWidth from 'string-width'
import type { TortureComplaint, TortureFinding, TortureReport, TortureResult } from '../../protocol/torture.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import type { Texts } from '../texts/index.ts'
import { entriesOf } from './journal.ts'
import { weightOf, rowOf, type Judged, type Tortured, type TortureOrder } from './torture.ts'

export interface ReportOptions {
  readonly order: TortureOrder
  /** As it was typed. */
  readonly module: string
  /** The command that hits one moment again. */
  readonly commandFor: (moment: string) => string
  readonly ms: number
}

export function reportOf({ texts }: Cli, tortured: Tortured, options: ReportOptions): TortureReport {
  const { evidence, ms, alike, complaints } = tortured.undisturbed
  const { entries, events, calls } = evidence
  const [started] = entriesOf(entries, 'started')
  const begun = entriesOf(entries, 'begun')
  const results = tortured.results.map((result) => resultOf(texts, result))
  const count = (verdict: TortureResult['verdict']): number => results.filter((one) => one.verdict === verdict).length
  const totals = { passed: count('passed'), failed: count('failed'), missed: count('missed') }
  const findings = complaints.map((one) => findingOf(texts, one))
  const isProved = totals.failed === 0 && totals.passed > 0 && findings.every(({ weight }) => weight === 'note')
  const firstFailed = results.find(({ verdict }) => verdict === 'failed')
  return {
    module: options.module,
    agent: started?.agent ?? 'agent',
    tools: entriesOf(entries, 'tools')
      .flatMap(({ tools }) => tools)
      .map((tool) => ({ ...tool, bodies: begun.filter((body) => body.tool === tool.name).length })),
    model: started?.model ?? 'default',
    seed: options.order.seed,
    undisturbed: {
      turns: events.flatMap((event) => (event.type === 'turn.ended' ? [event.outcome.kind] : [])),
      steps: events.filter(({ type }) => type === 'step.started').length,
      calls: calls.length,
      ms,
      alike,
      findings,
    },
    results,
    totals: { moments: tortured.moments, runs: results.length, ...totals, kills: tortured.kills },
    reproduce: firstFailed === undefined ? null : options.commandFor(firstFailed.moment),
    ms: options.ms,
    exit: isProved ? EXIT.ok : EXIT.failed,
  }
}

function resultOf(texts: Texts, { complaints, ...result }: Judged): TortureResult {
  return { ...result, findings: complaints.map((one) => findingOf(texts, one)) }
}

function findingOf({ torture: { complaint: say } }: Texts, complaint: TortureComplaint): TortureFinding {
  // The catalog has a text for each kind that takes that kind.
  const message = (say[complaint.kind] as (one: TortureComplaint) => string)(complaint)
  return { ...complaint, weight: weightOf(complaint), message }
}

/** The whole report, for people. */
export function printReport(cli: Cli, report: TortureReport): void {
  const { out, texts } = cli
  const say = texts.torture
  printUndisturbed(cli, report)
  for (const line of table(texts, report.results)) out.result(line)
  const failed = report.results.filter(({ verdict }) => verdict === 'failed')
  for (const alike of alikes(failed)) printFailures(cli, alike)
  for (const note of notesOf(report.results)) out.result(say.note(note))
  const missed = report.results.filter(({ verdict }) => verdict === 'missed').map(({ moment }) => moment)
  if (missed.length > 0) out.result(say.missed(missed.join(', ')))
  if (report.reproduce !== null) out.result(`\n${say.again(report.reproduce)}`)
  const [kept] = failed.flatMap(({ folder }) => (folder === null ? [] : [folder]))
  if (kept !== undefined) out.result(say.kept(kept))
  if (report.totals.passed + report.totals.failed === 0) out.result(say.nothingHit)
  const { totals } = report
  out.result(`\n${say.summary(totals, totals.kills, (report.ms / 1000).toFixed(1))}`)
}

function printUndisturbed({ out, texts: { torture: say } }: Cli, report: TortureReport): void {
  const { module, agent, tools, model, undisturbed, totals } = report
  out.result(say.agent(module, agent, tools.length, say.models[model]))
  out.result(say.undisturbed(undisturbed.turns.join(', '), undisturbed.steps, undisturbed.calls, totals.moments))
  if (!undisturbed.alike) out.result(say.notAlike)
  for (const { weight, message } of undisturbed.findings)
    out.result(weight === 'note' ? say.note(message) : `${say.verdicts.failed} ${message}`)
}

/** Failures that say the same, together, in the order of the first of each. */
function alikes(failed: readonly TortureResult[]): readonly (readonly TortureResult[])[] {
  const groups = new Map<string, TortureResult[]>()
  for (const result of failed) {
    const said = result.findings.map(({ kind, message }) => (kind === 'process-left' ? kind : message)).join('\n')
    groups.set(said, [...(groups.get(said) ?? []), result])
  }
  return [...groups.values()]
}

function printFailures({ out, texts: { torture: say } }: Cli, [first, ...others]: readonly TortureResult[]): void {
  const { moment, hits, findings } = first!
  out.result(`\n${say.verdicts.failed} ${moment}`)
  for (const hit of hits) out.result(`  ${say.hit(hit.moment, hit.event ?? say.nothing, hit.seq)}`)
  for (const { weight, message } of findings) out.result(`  ${weight === 'note' ? say.note(message) : message}`)
  if (others.length > 0) out.result(`  ${say.alsoAt(others.map((other) => other.moment).join(', '))}`)
}

/** What those who passed have to note, each once. */
function notesOf(results: readonly TortureResult[]): readonly string[] {
  const passed = results.filter(({ verdict }) => verdict !== 'failed')
  return [...new Set(passed.flatMap(({ findings }) => findings.map(({ message }) => message)))]
}

type Counts = { readonly [Column in 'runs' | 'passed' | 'failed' | 'missed']: number }
const COLUMNS = ['runs', 'passed', 'failed', 'missed'] as const

/** One row for each kind of moment, in the order in which they first came. */
function table({ torture: say }: Texts, results: readonly TortureResult[]): readonly string[] {
  const rows = new Map<string, Counts>()
  for (const { moment, verdict } of results) {
    const row = rowOf(moment)
    const counts = rows.get(row) ?? { runs: 0, passed: 0, failed: 0, missed: 0 }
    rows.set(row, { ...counts, runs: counts.runs + 1, [verdict]: counts[verdict] + 1 })
  }
  const named = [...rows].map(([row, counts]) => [rowName(say, row), ...COLUMNS.map((name) => `${counts[name] || ''}`)])
  const all = [['moment', ...COLUMNS].map((name) => say.columns[name as keyof typeof say.columns]), ...named]
  const widths = all[0]!.map((_, at) => Math.max(...all.map((cells) => stringWidth(cells[at]!))))
  return [
    '',
    ...all.map((cells) =>
      cells
        .map((cell, at) => padded(cell, widths[at]!, at === 0))
        .join('  ')
        .trimEnd(),
    ),
  ]
}

function padded(cell: string, width: number, isLeft: boolean): string {
  const space = ' '.repeat(width - stringWidth(cell))
  return isLeft ? cell + space : space + cell
}

function rowName(say: Texts['torture'], row: string): string {
  const plain = row.replace(/\+$/, '')
  const name = say.rows[plain] ?? say.inTool(plain)
  return row.endsWith('+') ? say.twice(name) : name
}
