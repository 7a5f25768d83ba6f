import { afterAll, expect, it } from 'vitest'
import { Example } from '../run.case.ts'

const example = new Example('01-first-turn')
afterAll(() => example.remove())

it('I4: the README program runs without a key: the steer is heard, the text streams, and a second run continues', async () => {
  const first = await example.run()
  expect(first).toEqual({ code: 0, out: 'Shanghai: 25 °C, clear.\ncompleted\n', err: '' })
  expect(await example.run()).toEqual(first)
})
