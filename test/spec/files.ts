/** The files of `spec/`, as the tests read them and `npm run spec` writes them. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { env } from '../../src/host/node.ts'
import type { Event } from '../../src/kernel/events.ts'

const SPEC = new URL('../../spec/', import.meta.url)

/** `npm run spec`: files are written, not compared. */
export const isWriting = env('UPDATE_SPEC') === '1'

export const HOW = 'If the change is meant, run `npm run spec`, and see spec/README.md for what makes a new version.'

export type FileTexts = Readonly<Record<string, string | Uint8Array>>

/** The folder as it is. */
export function readFolder(folder: string): Record<string, string> {
  const at = new URL(`${folder}/`, SPEC)
  return Object.fromEntries(readdirSync(at).map((name) => [name, readFileSync(new URL(name, at), 'latin1')]))
}

/** Bytes as texts, so that a difference is shown. */
export function asLatin1(files: FileTexts): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, Buffer.from(file).toString('latin1')]))
}

/** Makes the folder hold these files and no others. */
export function writeFolder(folder: string, files: FileTexts): void {
  const at = new URL(`${folder}/`, SPEC)
  rmSync(at, { recursive: true, force: true })
  mkdirSync(at, { recursive: true })
  for (const [name, file] of Object.entries(files)) writeFileSync(new URL(name, at), file)
}

/** A text of `spec/`. */
export function readSpec(path: string): string {
  return readFileSync(new URL(path, SPEC), 'utf8')
}

export function writeSpec(path: string, text: string): void {
  writeFileSync(new URL(path, SPEC), text)
}

export function goldenNames(): string[] {
  return readdirSync(new URL('golden/', SPEC))
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.replace('.jsonl', ''))
}

export function goldenEvents(name: string): Event[] {
  const lines = readSpec(`golden/${name}.jsonl`).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Event)
}
