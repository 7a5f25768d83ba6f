/** Testing an agent: a model that follows a script, a clock that stands still, and expectations on what the model was shown. */
import { expect, it } from 'vitest'
import { createHarness } from 'turnstep'
import { FakeClock, scriptedModel } from 'turnstep/testing'
import { travelGuide } from './guide.ts'

const ask = (city: string) => ({ call: { name: 'weather', args: { city } } })

it('compares both cities in one step and answers from the results', async () => {
  const model = scriptedModel([
    { emit: [ask('Beijing'), ask('Shanghai')] },
    {
      expect: { outcomes: ['ok', 'ok'], resultOf: { weather: '25' }, prefixSame: true },
      emit: [{ text: 'Go to Shanghai.' }],
    },
  ])
  const harness = await createHarness({ store: 'memory' })
  const session = await harness.open(travelGuide(model, async (city) => `${city}: ${city === 'Beijing' ? 31 : 25} °C`))

  const turn = await session.send('Beijing or Shanghai?')
  expect(await turn.outcome).toEqual({ kind: 'completed', goal: 'unchecked' })
  model.verify() // throws if a step was never played, or a request was not as expected
  await harness.close()
})

it('waits a second for a flaky service, and gives up after ten', async () => {
  const clock = new FakeClock()
  const model = scriptedModel([
    { emit: [ask('Beijing')] },
    { expect: { lastOutcome: 'timeout' }, emit: [{ text: 'The weather service does not answer.' }] },
  ])
  const calls: number[] = []
  const never = new Promise<string>(() => {})
  const harness = await createHarness({ store: 'memory', clock })
  const session = await harness.open(
    travelGuide(model, (_city) => {
      calls.push(clock.now())
      return calls.length === 1 ? Promise.reject(new Error('503')) : never
    }),
  )

  const turn = await session.send('How is Beijing?')
  const outcome = turn.outcome
  await clock.advance(10_000) // no test waits for real time
  expect(calls[1]! - calls[0]!).toBe(1_000)
  expect((await outcome).kind).toBe('completed')
  model.verify()
  await harness.close()
})

it('tries again when the provider is overloaded', async () => {
  const clock = new FakeClock()
  const model = scriptedModel([
    { fault: { kind: 'http', status: 503, retryAfterSeconds: 2 }, when: { attempt: 1 }, once: true },
    { emit: [{ text: 'Here I am.' }] },
  ])
  const harness = await createHarness({ store: 'memory', clock })
  const session = await harness.open(travelGuide(model, async () => ''))

  const turn = await session.send('Hello?')
  await clock.advance(2_000)
  expect((await turn.outcome).kind).toBe('completed')
  const failed = (await session.history()).filter((event) => event.type === 'model.failed')
  expect(failed).toHaveLength(1)
  model.verify()
  await harness.close()
})
