import { afterAll, expect, it } from 'vitest'
import { Example } from '../run.case.ts'

const example = new Example('03-plugin')
afterAll(() => example.remove())

it('A1, T5: a plugin denies a call, and keeps the turn going until the answer is whole', async () => {
  const out = 't1s1c1: denied\nt1s2c1: ok\nnot yet, says house-rules\ncompleted, goal met\n'
  expect(await example.run()).toEqual({ code: 0, out, err: '' })
})
