import { describe, expect, it } from 'vitest'
import { Tools } from '../../../test/kit/tools.ts'
import { scriptedModel } from '../../models/scripted/index.ts'
import { agent, type AgentSpec } from './agent.ts'

const model = scriptedModel([])
const refusal = (spec: unknown): unknown => {
  try {
    agent(spec as AgentSpec)
  } catch (error) {
    return error
  }
  return null
}

describe('an agent', () => {
  it('is what was declared, with every word that it knows', () => {
    const tools = new Tools()
    tools.add('look', { kind: 'returns', text: '' })
    const spec: AgentSpec = {
      name: 'guide',
      model,
      instructions: 'Be brief.',
      tools: tools.all,
      plugins: [{ name: 'p', setup: () => {} }],
      loop: { name: 'l', next: () => ({ kind: 'rest', mode: 'idle', wake: [] }) },
      limits: {
        steps: 1,
        atSteps: 'ask',
        vetoes: 0,
        attempts: 1,
        graceMs: 0,
        staleAfterMs: 0,
        starts: 1,
        cuts: 1,
        pool: 1,
        followups: 'all',
        afterFailure: 'continue',
      },
    }
    expect(agent(spec)).toBe(spec)
    expect(refusal({ model: 'scripted/a', name: undefined, limits: undefined, tools: undefined })).toBeNull()
  })

  it.each([
    [null, /model/],
    ['guide', /model/],
    [{}, /model/],
    [{ model: null }, /model/],
    [{ model: 7 }, /model/],
    [{ model: {} }, /model/],
    [{ model: '' }, /model/],
  ])('without a model is refused: %j', (spec, message) => {
    expect(refusal(spec)).toMatchObject({ code: 'config-invalid', message: expect.stringMatching(message) })
  })

  it.each([
    [{ tool: [] }, ['"tool"', 'tools']],
    [{ limits: { step: 3 } }, ['"step"', 'steps']],
    [{ name: 7 }, ['name', '7']],
    [{ name: '' }, ['name', '""']],
    [{ instructions: ['a'] }, ['instructions', '["a"]']],
    [{ tools: {} }, ['tools', '{}']],
    [{ tools: ['shell'] }, ['tools', '"shell"']],
    [{ plugins: 'p' }, ['plugins', '"p"']],
    [{ plugins: [{ name: 'p' }] }, ['plugins', '"p"']],
    [{ loop: 'react' }, ['loop', '"react"']],
    [{ limits: 5 }, ['limits', '5']],
    [{ limits: 'many' }, ['limits', '"many"']],
    [{ limits: null }, ['limits', 'null']],
    [{ limits: { steps: '3' } }, ['limits.steps', '"3"', 'from 1 up']],
    [{ limits: { steps: Number.NaN } }, ['limits.steps', 'NaN']],
    [{ limits: { graceMs: Number.POSITIVE_INFINITY } }, ['limits.graceMs', 'Infinity']],
    [{ limits: { graceMs: 1e300 } }, ['limits.graceMs', '1e+300']],
    [{ limits: { pool: 3n } }, ['limits.pool', '3']],
    [{ limits: { vetoes: -1 } }, ['limits.vetoes', '-1', 'from 0 up']],
    [{ limits: { atSteps: 'sumary' } }, ['limits.atSteps', '"sumary"', 'summary']],
    [{ limits: { atSteps: ['error'] } }, ['limits.atSteps', '["error"]']],
    [{ limits: { followups: 'every' } }, ['limits.followups', '"every"', 'one, all']],
    [{ limits: { afterFailure: true } }, ['limits.afterFailure', 'true', 'hold, continue']],
  ] as const)('that cannot be meant is refused, naming the word and the value: %o', (more, words) => {
    const error = refusal({ model, ...more }) as Error
    expect(error).toMatchObject({ code: 'config-invalid' })
    for (const word of words) expect(error.message).toContain(word)
  })

  it('with two tools of one name is refused', () => {
    const look = new Tools().add('look', { kind: 'returns', text: '' })
    expect(refusal({ model, tools: [look, look] })).toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('"look"'),
    })
  })
})
