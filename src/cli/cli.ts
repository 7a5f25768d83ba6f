/** What every command is given. */
import type { Locale } from '../runtime/wording.ts'
import { TurnstepError } from '../kernel/errors.ts'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import { TEXTS, type Texts } from './texts/index.ts'

export class Cli {
  readonly io: Io
  readonly out: Output
  /** `--lang` or `TURNSTEP_LANG` was given: a config file cannot change it. */
  readonly isLocaleChosen: boolean
  #locale: Locale

  constructor(io: Io, out: Output, locale: Locale, isLocaleChosen: boolean) {
    this.io = io
    this.out = out
    this.#locale = locale
    this.isLocaleChosen = isLocaleChosen
  }

  get locale(): Locale {
    return this.#locale
  }

  get texts(): Texts {
    return TEXTS[this.#locale]
  }

  speak(locale: Locale): void {
    this.#locale = locale
  }
}

/** Something was typed that cannot be done as it stands. */
export function usage(message: string): TurnstepError {
  return new TurnstepError('usage-invalid', message)
}
