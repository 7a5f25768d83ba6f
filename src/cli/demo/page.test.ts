import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import type { Event } from '../../kernel/events.ts'
import { FakeClock } from '../../testing/fake-clock.ts'
import { alignFirst, Page } from './page.ts'
import { WORDS } from './words.ts'

const events: readonly Event[] = [
  { type: 'session.created', format: 1, agent: '记账员', locale: 'zh', seq: 1, at: 0, fence: 1, turn: 0, step: 0 },
  { type: 'step.ended', seq: 1000, at: 0, fence: 2, turn: 10, step: 12 },
]

function pageOf(
  locale: 'en' | 'zh',
  columns: number,
): { readonly page: Page; readonly lines: () => readonly string[] } {
  let text = ''
  const output = { write: (more: string) => (text += more), columns }
  const page = new Page({
    output,
    words: WORDS[locale],
    color: false,
    paced: false,
    clock: new FakeClock(),
    signal: new AbortController().signal,
  })
  return { page, lines: () => text.trimEnd().split('\n') }
}

it.each(['en', 'zh'] as const)('puts the columns of the timeline under each other, in %s', (locale) => {
  const { page, lines } = pageOf(locale, 100)
  page.timeline(events, ({ fence }) => (fence === 1 ? '7' : '4711'))
  const [, , , , head] = WORDS[locale].columns
  const [heads, first, second] = lines()
  const at = stringWidth(heads!.slice(0, heads!.indexOf(head)))
  expect(stringWidth(first!.slice(0, first!.indexOf('7') + 1)) + 2).toBe(at)
  expect(stringWidth(second!.slice(0, second!.indexOf('4711') + 4)) + 2).toBe(at)
})

it('breaks long lines under their text, at spaces or between Chinese characters', async () => {
  const { page, lines } = pageOf('zh', 60)
  await page.say('agent', '一二三四五六七八九十'.repeat(8))
  await page.say('agent', 'word '.repeat(40))
  expect(lines().length).toBeGreaterThan(5)
  for (const line of lines()) expect(stringWidth(line)).toBeLessThanOrEqual(60)
  expect(lines()[1]).toMatch(/^ +[一二三四五六七八九十]+$/)
})

it('aligns the first cells, a Chinese character counting two', () => {
  expect(
    alignFirst([
      ['账单', 'x'],
      ['bills', 'y'],
    ]),
  ).toEqual(['账单   x', 'bills  y'])
})
