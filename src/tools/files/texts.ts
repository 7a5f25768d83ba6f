/** What people read of the file tools. */
import { normalize } from 'node:path'
import type { Locale } from '../../runtime/wording.ts'
import { Refusal } from '../refusal.ts'
import type { Place, Workspace } from '../workspace.ts'

export interface FileOptions {
  /**
   * Whether a person is asked before each change. Default `never`: a change of a file is seen, and undone, in version control. What
   * is run as code without being asked for, `turnstep.config.*` and what is in `.git`, is asked for in any case.
   */
  readonly approval?: 'ask' | 'never'
  /** The language of what people read. Default `en`. */
  readonly locale?: Locale
}

const TEXTS = {
  en: {
    write: (path: string) => `Write the file ${path}`,
    edit: (path: string) => `Edit the file ${path}`,
    through: (place: string, path: string) => `${place}, through ${path}`,
    config: (question: string) => `${question}. The turnstep command runs turnstep.config.* as code at its next start.`,
    git: (question: string) => `${question}. Git runs programs that files in .git name.`,
  },
  zh: {
    write: (path: string) => `写入文件 ${path}`,
    edit: (path: string) => `修改文件 ${path}`,
    through: (place: string, path: string) => `${place}（经由 ${path}）`,
    config: (question: string) => `${question}。turnstep 命令下次启动时会把 turnstep.config.* 当作代码执行。`,
    git: (question: string) => `${question}。Git 会执行 .git 中的文件所指定的程序。`,
  },
}

/** The reason that is shown with the question, or no question. */
export function approveChange(
  workspace: Workspace,
  { approval, locale = 'en' }: FileOptions,
  what: 'write' | 'edit',
  path: string,
): string | false {
  const texts = TEXTS[locale]
  const place = placeOf(workspace, path)
  const guard = place?.guard ?? null
  if (place === null || guard === null || guard === 'state') return approval === 'ask' && texts[what](short(path))
  const named = place.shown === normalize(path) ? short(path) : texts.through(short(place.shown), short(path))
  return texts[guard](texts[what](named))
}

/** Null: the call will be refused. */
function placeOf(workspace: Workspace, path: string): Place | null {
  try {
    return workspace.resolve(path)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}

/** The end of a path says most about it. */
const short = (path: string): string => (path.length > PATH_CHARS_MAX ? `…${path.slice(-PATH_CHARS_MAX)}` : path)

const PATH_CHARS_MAX = 300
