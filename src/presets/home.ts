/** Makes the folder in which things are kept. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Paths } from '../host/paths.ts'
import { TurnstepError } from '../kernel/errors.ts'
import { makeFolder } from '../stores/folder.ts'
import { messageOf } from '../util/text.ts'

/** Makes the folder, and keeps what is in it out of git. Throws `store-unwritable` naming the folder. */
export function ensureHome({ home }: Pick<Paths, 'home'>): void {
  try {
    makeFolder(home)
    const ignore = join(home, '.gitignore')
    if (!existsSync(ignore)) writeFileSync(ignore, '*\n')
  } catch (cause) {
    throw new TurnstepError(
      'store-unwritable',
      `cannot write to "${home}" (${messageOf(cause)}); make it writable, or set TURNSTEP_HOME to another folder`,
      { cause },
    )
  }
}
