import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { log, recordOf, type Asked } from '../../test/kit/log.ts'
import type { CallRecord, EffectClass } from './events.ts'
import { fingerprintOf, judgeRepetition, type Verdict } from './guard.ts'

type Batch = readonly string[]

/** Makes one batch after the other; a call that the guard holds back is answered with guidance. Tells the verdicts of each step. */
function tries(
  batches: readonly Batch[],
  effect: EffectClass,
  result: (step: number) => string = () => 'same',
): Verdict[][] {
  const session = log().open().turn({ steps: 1_000 }).entered('go')
  return batches.map((batch, at) => {
    const asked: Asked[] = batch.map((name) => ({ name, effect, resources: [] }))
    session
      .step()
      .requested()
      .calls(...asked)
    const records = session.state.step!.calls.map((call) => call.record)
    return judgeAll(session, records, result(at))
  })
}

function judgeAll(session: ReturnType<typeof log>, records: readonly CallRecord[], result: string): Verdict[] {
  const verdicts = records.map((record) => judgeRepetition(session.state.turn!, records, record))
  for (const [at, record] of records.entries()) {
    const verdict = verdicts[at]!
    if (verdict.kind === 'run') session.started(record.id).ended(record.id, { kind: 'ok' }, result, result)
    else session.ended(record.id, { kind: 'intercepted', by: 'loop-guard', message: 'm', times: verdict.times })
  }
  session.stepEnded()
  return verdicts
}

const firstHeld = (verdicts: readonly Verdict[][]): number =>
  verdicts.findIndex((step) => step.some((verdict) => verdict.kind !== 'run'))
const firstStuck = (verdicts: readonly Verdict[][]): number =>
  verdicts.findIndex((step) => step.some((verdict) => verdict.kind === 'stuck'))

/** Up to three batches, all different, none of which repeats itself. */
const periods = fc.integer({ min: 1, max: 3 }).chain((length) =>
  fc.uniqueArray(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 3 }), {
    minLength: length,
    maxLength: length,
    selector: (batch) => batch.toSorted().join(),
  }),
)

const repeated = (period: readonly Batch[], times: number): Batch[] =>
  Array.from({ length: times }, () => period).flat()

describe('the loop guard', () => {
  it('T6, case 039: reads that learn nothing are held back in their third repetition, for every period up to three', () => {
    fc.assert(
      fc.property(periods, (period) => {
        const at = firstHeld(tries(repeated(period, 4), 'read'))
        expect(at).toBeGreaterThanOrEqual(2 * period.length)
        expect(at).toBeLessThan(3 * period.length)
      }),
    )
  })

  it('T6, case 039: writes are held back in their second repetition, for every period up to three', () => {
    fc.assert(
      fc.property(periods, (period) => {
        const at = firstHeld(tries(repeated(period, 3), 'write'))
        expect(at).toBeGreaterThanOrEqual(1)
        expect(at).toBeLessThan(2 * period.length)
      }),
    )
  })

  it('T6: guidance does not end the row that it is about: a loop that goes on ends stuck', () => {
    fc.assert(
      fc.property(periods, fc.constantFrom('read' as const, 'write' as const), (period, effect) => {
        const at = firstStuck(tries(repeated(period, 7), effect))
        expect(at).toBeGreaterThanOrEqual(0)
        expect(at).toBeLessThan(5 * period.length)
      }),
    )
  })

  it('T6: control group: batches that never come twice are let through', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom('read' as const, 'write' as const),
        (length, effect) => {
          const batches = Array.from({ length }, (_, at) => [`tool${at}`, `other${at}`])
          expect(firstHeld(tries(batches, effect))).toBe(-1)
        },
      ),
    )
  })

  it('T6: control group: reads that learn something each time are let through', () => {
    fc.assert(
      fc.property(periods, (period) => {
        expect(firstHeld(tries(repeated(period, 5), 'read', (step) => `result ${step}`))).toBe(-1)
      }),
    )
  })

  it('T6: control group: what never ran, or may go well next time, is no attempt', () => {
    const session = log().open().turn({ steps: 100 }).entered('go')
    for (let step = 0; step < 8; step++) {
      session.step().requested().calls({ name: 'a', effect: 'write' })
      const { record } = session.state.step!.calls[0]!
      expect(judgeRepetition(session.state.turn!, [record], record)).toEqual({ kind: 'run' })
      if (step % 4 === 0) session.ended(record.id, { kind: 'denied', by: 'user', reason: '' })
      else if (step % 4 === 1)
        session.started(record.id).ended(record.id, { kind: 'error', code: 'busy', message: '', retryable: true })
      else if (step % 4 === 2) session.started(record.id).ended(record.id, { kind: 'timeout', afterMs: 1 })
      else session.ended(record.id, { kind: 'invalid', problem: 'json', message: '' })
      session.stepEnded()
    }
  })

  it('T6: a tool may be left alone', () => {
    const session = log().open().turn().entered('go').worked({ name: 'a', effect: 'write' })
    const record: CallRecord = { ...recordOf('t1s2c1', { name: 'a', effect: 'write' }), guard: 'off' }
    expect(judgeRepetition(session.state.turn!, [record], record)).toEqual({ kind: 'run' })
  })
})

const json = fc.jsonValue({ maxDepth: 3 })

describe('the fingerprint', () => {
  it('T6, case 039: is that of the arguments, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (args) => {
        expect(fingerprintOf('tool', reordered(args), null)).toBe(fingerprintOf('tool', args, null))
      }),
    )
  })

  it('T6: tells other names, other arguments and other identities apart', () => {
    const one = fingerprintOf('tool', { a: 1 }, null)
    expect(fingerprintOf('other', { a: 1 }, null)).not.toBe(one)
    expect(fingerprintOf('tool', { a: 2 }, null)).not.toBe(one)
    expect(fingerprintOf('tool', { a: 2 }, 'the same')).toBe(fingerprintOf('tool', { a: 1 }, 'the same'))
  })
})

/** The same value with the keys of each object the other way round. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, reordered(inner)]),
  )
}
