/** The folder of one demo: the workspace of the agent with its bills, the record of the bank, and the store of the session. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locale } from '../../runtime/wording.ts'
import { SCENES, type Scene } from './scene.ts'

export interface Desk {
  readonly root: string
  readonly locale: Locale
  readonly scene: Scene
  /** What the agent's tools can reach. */
  readonly workspace: string
  /** The SQLite file. */
  readonly store: string
  readonly bank: string
  readonly report: string
}

/** The name of the session in its store. */
export const SESSION = 'bills'

/** The paths of the demo in the folder `root`. */
export function deskAt(root: string, locale: Locale): Desk {
  const scene = SCENES[locale]
  const workspace = join(root, 'workspace')
  return {
    root,
    locale,
    scene,
    workspace,
    store: join(root, 'sessions.db'),
    bank: join(workspace, scene.bank),
    report: join(workspace, scene.report),
  }
}

/** Writes the bills, and an empty record of the bank. */
export function layOut({ scene, workspace, bank }: Desk): void {
  const bills = join(workspace, scene.folder)
  mkdirSync(bills, { recursive: true })
  for (const { name, text } of scene.files) writeFileSync(join(bills, name), text)
  writeFileSync(bank, `${scene.bankHeader}\n`)
}

/** The payments that the bank was ordered to make, a line each, oldest first. */
export function payments({ bank }: Desk): readonly string[] {
  return readIfThere(bank).split('\n').slice(1).filter(Boolean)
}

/** The text of a file; empty where there is none. */
export function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}
