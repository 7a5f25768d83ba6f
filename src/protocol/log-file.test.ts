import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LogFileCheck, type LogReport } from './log-file.ts'

const SPEC = new URL('../../spec/', import.meta.url)

function read(folder: string): Buffer[] {
  const at = new URL(`${folder}/`, SPEC)
  const names = readdirSync(at).filter((name) => name.endsWith('.jsonl'))
  return names.map((name) => readFileSync(new URL(name, at)))
}

const golden = read('golden')
const any = [...golden, ...read('broken'), ...read('odd')]

function check(pieces: Iterable<Uint8Array>, lineBytesMax?: number): LogReport {
  const log = new LogFileCheck(lineBytesMax)
  for (const piece of pieces) if (!log.push(piece)) break
  return log.end()
}

const checkText = (text: string, lineBytesMax?: number): LogReport => check([Buffer.from(text)], lineBytesMax)

/** The bytes in pieces that are as long as the numbers say, over and over. */
function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const end = at + sizes[n % sizes.length]!
    yield bytes.subarray(at, end)
    at = end
  }
}

describe('the check of a log file', () => {
  it('L6: does not depend on how the bytes come', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.constantFrom(...any), sizes, (bytes, pieces) => {
        expect(check(cut(bytes, pieces))).toEqual(check([bytes]))
      }),
      { numRuns: 300 },
    )
  })

  it('L5: says something of any bytes at all, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const { fault } = check([bytes])
        expect(fault).toMatchObject({ line: expect.any(Number), seq: 1, rule: expect.stringMatching(/^L\d$/) })
      }),
      { numRuns: 2_000 },
    )
  })

  it('L5: says something of a log in which bytes were changed, left out or put in', () => {
    const change = fc.record({ at: fc.nat(), remove: fc.nat(40), put: fc.uint8Array({ maxLength: 20 }) })
    fc.assert(
      fc.property(fc.constantFrom(...golden), fc.array(change, { minLength: 1, maxLength: 3 }), (log, changes) => {
        let bytes = log
        for (const { at, remove, put } of changes) {
          const from = at % (bytes.length + 1)
          bytes = Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(from + remove)])
        }
        expectReport(check([bytes]))
      }),
      { numRuns: 3_000 },
    )
  })

  it('L1: says something of a log whose lines were moved, doubled, dropped or mixed with those of another', () => {
    const lines = golden.flatMap((log) => log.toString().trimEnd().split('\n'))
    const edit = fc.record({
      at: fc.nat(),
      kind: fc.constantFrom('drop', 'double', 'swap', 'foreign'),
      other: fc.nat(),
    })
    fc.assert(
      fc.property(fc.constantFrom(...golden), fc.array(edit, { minLength: 1, maxLength: 4 }), (log, edits) => {
        const text = log.toString().trimEnd().split('\n')
        for (const { at, kind, other } of edits) {
          const here = at % text.length
          const line = text[here]!
          if (kind === 'drop') text.splice(here, 1)
          else if (kind === 'double') text.splice(here, 0, line)
          else if (kind === 'swap') text.splice(here, 1, ...text.splice(other % text.length, 1, line))
          else text[here] = lines[other % lines.length]!
        }
        expectReport(checkText(`${text.join('\n')}\n`))
      }),
      { numRuns: 2_000 },
    )
  })

  it('bounds a line, so that no file can fill the memory', () => {
    const line = golden[0]!.toString().split('\n')[0]!
    expect(checkText(`${line}\n`, line.length).fault).toBeNull()
    expect(checkText(`${line}\n${' '.repeat(500)}`, 400).fault).toMatchObject({
      code: 'long',
      rule: 'L5',
      line: 2,
      seq: 2,
    })
    expect(checkText(`SQLite format 3\0${'x'.repeat(500)}`, 400).fault).toMatchObject({ code: 'store', line: 1 })
    const stops = new LogFileCheck(400)
    expect([stops.push(Buffer.alloc(300, 'x')), stops.push(Buffer.alloc(300, 'x'))]).toEqual([true, false])
  })

  it('survives lines that are nested without end', () => {
    for (const deep of ['[', '{"a":']) {
      const { fault } = checkText(`${deep.repeat(200_000)}\n`)
      expect(fault).toMatchObject({ code: 'json', rule: 'L5', line: 1 })
    }
    const closed = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(checkText(`{"type":"x.a","data":${closed}}\n`).fault).toMatchObject({ code: 'shape', rule: 'L6' })
  })

  it('finds nothing against fields that every object has by birth', () => {
    const line = golden[0]!.toString().split('\n')[0]!
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(checkText(`${line.replace('{', `{"${name}":1,`)}\n`).fault).toBeNull()
    expect(checkText('{"__proto__":{"type":"session.created"}}\n').fault).toMatchObject({ code: 'shape' })
  })
})

function expectReport({ fault, events }: LogReport): void {
  if (fault === null) return
  expect(fault.seq).toBe(events + 1)
  expect(fault.line).toBeGreaterThan(0)
  expect(fault.problem).not.toBe('')
  expect(fault.rule).toMatch(/^[LITCAXGWB]\d+$/)
}
