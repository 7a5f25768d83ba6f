/** What an implementation of the format is tried by: logs that are broken, each in one way, files that are odd and sound, and the list of all. */
import { FORMAT, type Event } from '../../src/kernel/events.ts'
import { LogFileCheck, type LogReport } from '../../src/protocol/log-file.ts'
import { brokenLogs, type BrokenLog } from './broken.ts'
import { goldenNames, readSpec, type FileTexts } from './files.ts'
import { brokenFiles, oddFiles } from './odd-files.ts'
import { printJson } from './print.ts'

export interface Manifest {
  readonly format: number
  readonly golden: readonly { readonly log: string; readonly projection: string; readonly events: number }[]
  readonly odd: readonly { readonly log: string; readonly events: number; readonly skipped: number }[]
  readonly broken: readonly BrokenRow[]
}

export interface BrokenRow {
  readonly log: string
  readonly rule: string
  readonly code: string
  readonly line: number
  readonly seq: number
  readonly event: string | null
  /** In the words of this implementation. */
  readonly problem?: string
}

export interface Corpus {
  readonly logs: readonly BrokenLog[]
  readonly broken: FileTexts
  readonly odd: FileTexts
  readonly manifest: string
}

export function corpus(): Corpus {
  const logs = brokenLogs()
  const texts = Object.fromEntries(logs.map(({ name, events }) => [name, textOf(events)]))
  const broken = named({ ...texts, ...brokenFiles() })
  const odd = named(oddFiles())
  const manifest: Manifest = {
    format: FORMAT,
    golden: goldenNames().map((name) => {
      const { events } = checkFile(Buffer.from(readSpec(`golden/${name}.jsonl`)))
      return { log: `golden/${name}.jsonl`, projection: `golden/${name}.projection.json`, events }
    }),
    odd: Object.entries(odd).map(([name, file]) => {
      const { events, skipped } = checkFile(Buffer.from(file))
      return { log: `odd/${name}`, events, skipped }
    }),
    broken: Object.entries(broken).map(([name, file]) => rowOf(name, checkFile(Buffer.from(file)))),
  }
  return { logs, broken, odd, manifest: printJson(manifest) }
}

/** The report on a whole file. */
export function checkFile(bytes: Uint8Array): LogReport {
  const check = new LogFileCheck()
  check.push(bytes)
  return check.end()
}

function textOf(events: readonly Event[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}

function named(files: FileTexts): FileTexts {
  const entries = Object.entries(files).map(([name, file]) => [`${name}.jsonl`, file] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function rowOf(name: string, { fault }: LogReport): BrokenRow {
  if (fault === null) throw new Error(`broken/${name} is sound`)
  const { rule, code, line, seq, type, problem } = fault
  // What is said of text that is no JSON differs between versions of the parser.
  const said = code === 'json' ? {} : { problem }
  return { log: `broken/${name}`, rule, code, line, seq, event: type, ...said }
}
