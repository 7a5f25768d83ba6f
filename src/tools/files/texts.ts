/** What people read of the file tools. */
import type { Locale } from '../../runtime/wording.ts'

export interface FileOptions {
  /** Whether a person is asked before each change. Default `never`: a change of a file is seen, and undone, in version control. */
  readonly approval?: 'ask' | 'never'
  /** The language of what people read. Default `en`. */
  readonly locale?: Locale
}

const TEXTS = {
  en: { write: (path: string) => `Write the file ${path}`, edit: (path: string) => `Edit the file ${path}` },
  zh: { write: (path: string) => `写入文件 ${path}`, edit: (path: string) => `修改文件 ${path}` },
}

/** The reason that is shown with the question, or no question. */
export function approveChange(
  { approval, locale = 'en' }: FileOptions,
  what: 'write' | 'edit',
  path: string,
): string | false {
  return approval === 'ask' && TEXTS[locale][what](path.slice(0, 300))
}
