import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Example } from '../run.case.ts'

const example = new Example('02-approval')
const refunds = join(example.folder, 'refunds.csv')
afterAll(() => example.remove())

it('A2: a question outlives its process, and what was approved runs once', async () => {
  const question = 'Refund 42 EUR for order 7?'
  expect(await example.run()).toEqual({ code: 0, out: `waiting: ${question}\n`, err: '' })
  expect(existsSync(refunds)).toBe(false)
  expect(await example.run()).toEqual({ code: 0, out: `approved: ${question}\nidle\n`, err: '' })
  expect(readFileSync(refunds, 'utf8')).toBe('7,42,order-7/t1s1c1\n')
})
