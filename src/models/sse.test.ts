import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sseReader, type SseItem } from './sse.ts'

const stream = new TextEncoder().encode(
  [
    ': a comment\r\n',
    'data: {"text":"好"}\r\n\r\n',
    'data:{"text":"😀"}\n\n',
    'event: error\rdata: one\rdata: two\r\r',
    'id: 7\nretry: 10\ndata: 末尾\n\n',
    'data: [DONE]',
  ].join(''),
)

const wanted = [
  { kind: 'event', event: '', data: '{"text":"好"}' },
  { kind: 'event', event: '', data: '{"text":"😀"}' },
  { kind: 'event', event: 'error', data: 'one\ntwo' },
  { kind: 'event', event: '', data: '末尾' },
  { kind: 'event', event: '', data: '[DONE]' },
]

async function read(...pieces: readonly Uint8Array[]): Promise<SseItem[]> {
  const reader = await sseReader()
  const items = pieces.flatMap((piece) => [...reader.push(piece)])
  return [...items, ...reader.end()]
}

describe('case 073: events do not depend on how the bytes are cut', () => {
  it('at every offset', async () => {
    for (let at = 0; at <= stream.length; at++) {
      expect(await read(stream.subarray(0, at), stream.subarray(at)), `cut at ${at}`).toEqual(wanted)
    }
  })

  it('byte by byte', async () => {
    expect(await read(...Array.from(stream, (byte) => Uint8Array.of(byte)))).toEqual(wanted)
  })

  it('anywhere', async () => {
    const cuts = fc.array(fc.nat(stream.length), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(cuts, async (offsets) => {
        const borders = [0, ...offsets.toSorted((a, b) => a - b), stream.length]
        const pieces = borders.slice(1).map((end, index) => stream.subarray(borders[index], end))
        expect(await read(...pieces)).toEqual(wanted)
      }),
    )
  })
})

describe('what is no event', () => {
  it('is told apart from comments and odd fields', async () => {
    const items = await read(new TextEncoder().encode(': fine\nretry: soon\n<html>\n\ndata: x\n\n'))
    expect(items).toEqual([
      { kind: 'garbage', line: '<html>' },
      { kind: 'event', event: '', data: 'x' },
    ])
  })

  it('is an event that never ends: it is given up, once', async () => {
    const reader = await sseReader()
    const part = new TextEncoder().encode(`data: ${'x'.repeat(2 ** 20)}`)
    const items = Array.from({ length: 20 }, () => reader.push(part)).flat()
    expect(items).toHaveLength(1)
    expect(items[0]!.kind).toBe('garbage')
    expect(reader.end()).toEqual([])
  })
})
