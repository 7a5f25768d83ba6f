import { afterAll, expect, it } from 'vitest'
import { Example } from '../run.case.ts'

const example = new Example('17-torture')
afterAll(() => example.remove())

const MOMENTS = ['inside/refund/1', 'ended/refund/1', 'ended/write_letter/1', 'after-append/4', 'after-put/2']
const only = MOMENTS.flatMap((moment) => ['--only', moment])

it('C4, A2: the clerk refunds once, wherever it is killed', { timeout: 90_000 }, async () => {
  const { code, out, err } = await example.turnstep(['torture', './agent.js', ...only])
  expect({ code, err }, out).toEqual({ code: 0, err: '' })
  expect(out).toContain('5 passed, 0 failed, 0 missed; 5 kills')
})

it('C4: a careless letter is found', { timeout: 90_000 }, async () => {
  const careless = ['torture', './agent.js', '--only', 'ended/write_letter/1']
  const { code, out } = await example.turnstep(careless, { CARELESS: '1' })
  expect(code).toBe(1)
  expect(out).toContain('FAILED ended/write_letter/1')
  expect(out).toContain('done twice: torture/t1s2c1')
})
