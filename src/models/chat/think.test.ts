import { describe, expect, it } from 'vitest'
import { ThinkSplitter } from './think.ts'

function split(pieces: readonly string[], enabled = true): { reasoning: string; text: string } {
  const splitter = new ThinkSplitter(enabled)
  const spans = [...pieces.flatMap((piece) => [...splitter.push(piece)]), ...splitter.end()]
  const of = (type: string): string => spans.map((span) => (span.type === type ? span.text : '')).join('')
  return { reasoning: of('reasoning'), text: of('text') }
}

describe('thinking inside the content', () => {
  it.each([
    ['<think>\nhm\n</think>\n\nanswer', '\nhm\n', 'answer'],
    ['\n<think>a < b </thin k></think>answer <think>text</think>', 'a < b </thin k>', 'answer <think>text</think>'],
    ['plain <think>no</think>', '', 'plain <think>no</think>'],
    ['<thinking is hard', '', '<thinking is hard'],
    ['<think>cut off </th', 'cut off </th', ''],
    ['<think></think>', '', ''],
    ['<thi', '', '<thi'],
    ['  x', '', '  x'],
  ])('%j', (content, reasoning, text) => {
    expect(split([content])).toEqual({ reasoning, text })
    expect(split([...content])).toEqual({ reasoning, text })
    for (let at = 1; at < content.length; at++)
      expect(split([content.slice(0, at), content.slice(at)])).toEqual({ reasoning, text })
  })

  it('is text where the dialect has none', () => {
    expect(split(['<think>x</think>y'], false)).toEqual({ reasoning: '', text: '<think>x</think>y' })
  })

  it('shows thinking as it comes', () => {
    const splitter = new ThinkSplitter(true)
    splitter.push('<think>')
    expect(splitter.push('one ')).toEqual([{ type: 'reasoning', text: 'one ' }])
    expect(splitter.push('two</')).toEqual([{ type: 'reasoning', text: 'two' }])
  })
})
