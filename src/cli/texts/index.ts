/** The catalogs, and which of them is spoken. */
import type { Locale } from '../../runtime/wording.ts'
import { en, type Texts } from './en.ts'
import { zh } from './zh.ts'

export type { Texts }

export const TEXTS: Record<Locale, Texts> = { en, zh }

/** Null: a language that there is not. */
export function localeOf(name: string): Locale | null {
  if (/^zh\b|^zh[_-]/i.test(name)) return 'zh'
  return /^en\b|^en[_-]/i.test(name) ? 'en' : null
}

/** By `TURNSTEP_LANG`, then as the system has it, else English. */
export function ambientLocale(env: (name: string) => string | undefined): Locale {
  for (const name of ['TURNSTEP_LANG', 'LC_ALL', 'LC_MESSAGES', 'LANG']) {
    const value = env(name)
    if (value !== undefined) return localeOf(value) ?? 'en'
  }
  return 'en'
}
