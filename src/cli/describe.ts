/** Facts as short lines for people. */
import type { CallOutcome, TurnOutcome } from '../kernel/outcome.ts'
import { textOf, type Part } from '../kernel/message.ts'
import { WORDINGS } from '../runtime/wording.ts'
import type { Texts } from './texts/index.ts'
import { visible } from './visible.ts'

/** One line of at most so many characters. */
export function oneLine(text: string, max = 100): string {
  const characters = [...text.replaceAll(/\s+/g, ' ').trim()]
  return characters.length > max ? `${characters.slice(0, max - 1).join('')}…` : characters.join('')
}

export function contentLine(content: readonly Part[], max = 100): string {
  const images = content.filter((part) => part.type === 'image').length
  return oneLine([textOf(content), ...(images > 0 ? [`[${images} image]`] : [])].join(' '), max)
}

const MARKS = Object.values(WORDINGS).map(({ steerMark }) => steerMark.trim())

/** A steer as it was typed: without the mark that models see (I10). Null: it has none. */
export function unmarked(text: string): string | null {
  const mark = MARKS.find((known) => text.startsWith(known))
  return mark === undefined ? null : text.slice(mark.length).trim()
}

/** Arguments of a call as JSON, on one line: the value alone where it is but one text. Nothing in it is hidden or left out. */
export function argsText(args: unknown): string {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : []
  const [only] = values
  if (values.length === 0) return ''
  return visible(JSON.stringify(values.length === 1 && typeof only === 'string' ? only : args) ?? '')
}

/** The same in passing: at most so many characters, and one line of text without its quotes. */
export function argsLine(args: unknown, max = 100): string {
  const values = typeof args === 'object' && args !== null ? Object.values(args) : []
  const [only] = values
  const isLine = values.length === 1 && typeof only === 'string' && !only.includes('\n')
  return oneLine(isLine ? visible(only) : argsText(args), max)
}

/** Null for a completed turn: there is nothing to say. */
export function outcomeLine({ outcome: say }: Texts, outcome: TurnOutcome): string | null {
  switch (outcome.kind) {
    case 'completed':
      return null
    case 'max-tokens':
      return say['max-tokens'](outcome.limit)
    case 'step-limit':
      return outcome.notice ?? say['step-limit'](outcome.steps, outcome.how, outcome.failure?.message)
    case 'budget':
      return say.budget(outcome.reason)
    case 'blocked':
      return say.blocked(outcome.reason)
    case 'refused':
      return say.refused(outcome.reason)
    case 'stuck':
      return say.stuck(outcome.tool, outcome.times)
    case 'veto-capped':
      return say['veto-capped'](outcome.vetoes)
    case 'aborted':
      return say.aborted(outcome.reason)
    case 'error':
      return say.error(outcome.failure.kind, outcome.failure.message)
  }
}

/** What went otherwise than well with a call; null for `ok`. */
export function callLine(outcome: CallOutcome, content: readonly Part[]): string | null {
  return outcome.kind === 'ok' ? null : `${outcome.kind}: ${contentLine(content, 160)}`
}
