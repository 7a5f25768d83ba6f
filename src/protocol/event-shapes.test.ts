import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { shapeProblem } from './event-shapes.ts'

const GOLDEN = new URL('../../spec/golden/', import.meta.url)
const goldenEvents = readdirSync(GOLDEN)
  .filter((file) => file.endsWith('.jsonl'))
  .flatMap((file) => readFileSync(new URL(file, GOLDEN), 'utf8').trimEnd().split('\n'))
  .map((line) => JSON.parse(line) as { readonly type: string } & Readonly<Record<string, unknown>>)

const HEAD = { seq: 1, at: 1_700_000_000_000, fence: 1, turn: 1, step: 0 }
const USAGE = { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
const CALL = {
  id: 't1s1c1',
  name: 'pay',
  rawArgs: '{}',
  args: {},
  providerId: 'x',
  effect: 'write',
  resources: [{ name: '*', mode: 'write' }],
  fingerprint: 'f',
}
const entered = { type: 'input.entered', input: 'i', lane: 'steer', origin: { kind: 'user' }, content: [] }
const ended = { type: 'turn.ended', outcome: { kind: 'completed' }, goal: 'met' }
const reply = {
  type: 'reply.completed',
  attempt: 1,
  finish: 'calls',
  rawFinish: 'x',
  parts: [{ type: 'call', call: 't1s1c1' }],
  calls: [CALL],
  usage: USAGE,
}
const called = { type: 'call.ended', call: 't1s1c1', outcome: { kind: 'ok' }, content: [{ type: 'text', text: 'x' }] }
const decided = {
  type: 'call.approval-decided',
  call: 't1s1c1',
  decision: 'allow',
  by: { kind: 'user' },
  grant: 'once',
  input: 'i',
}

describe('the shape of an event', () => {
  it('L6: is that of every event of every golden log', () => {
    expect(goldenEvents.length).toBeGreaterThan(100)
    expect(goldenEvents.map(shapeProblem).filter((problem) => problem !== null)).toEqual([])
  })

  it('has every field that golden events have for its own: none can be of another kind', () => {
    // Where anything goes: what they hold is a tool's, a plugin's, a model's or a later version's own.
    const open = new Set(['data', 'options', 'value', 'parameters', 'anything', 'later'])
    for (const event of goldenEvents)
      for (const field of Object.keys(event).filter((name) => !open.has(name)))
        expect(shapeProblem({ ...event, [field]: [[{}]] }), `${event.type}.${field}`).not.toBeNull()
  })

  it.each([
    [reply],
    [called],
    [entered],
    [ended],
    [decided],
    [{ ...entered, lane: 'note', content: [{ type: 'image', mediaType: 'image/png', data: '' }], more: 1 }],
    [{ ...called, outcome: { kind: 'ok', data: null } }],
    [
      {
        type: 'model.failed',
        attempt: 1,
        failure: { kind: 'server', message: '', retry: true, more: 1 },
        retryAt: 1.5,
        text: '',
        usage: USAGE,
      },
    ],
    [{ type: 'x.p.y', data: null }],
    [{ type: 'future.thing', anything: [1] }],
  ])('fits: %j', (event) => {
    expect(shapeProblem({ ...HEAD, ...event })).toBeNull()
  })

  it.each([
    ['it is no object', null],
    ['it is no object', [1]],
    ['type is missing', {}],
    ['type is 5', { type: 5 }],
    ['type is "constructor"', { type: 'constructor' }],
    ['type is "__proto__"', JSON.parse('{"type":"__proto__"}')],
    ['type is "toString"', { type: 'toString' }],
    ['type is "a. b"', { type: 'a. b' }],
    ['x.p.y: data is missing', { type: 'x.p.y' }],
    ['step.ended: at is 1.5', { type: 'step.ended', at: 1.5 }],
    ['step.ended: at is 9000000000000000', { type: 'step.ended', at: 9e15 }],
    ['step.ended: turn is -3', { type: 'step.ended', turn: -3 }],
    ['step.ended: step is 1e+30', { type: 'step.ended', step: 1e30 }],
    ['step.ended: fence is "1"', { type: 'step.ended', fence: '1' }],
    ['session.created: locale is "valueOf"', { type: 'session.created', format: 1, agent: 'a', locale: 'valueOf' }],
    ['input.entered: content[0].text is missing', { ...entered, content: [{ type: 'text' }] }],
    ['input.entered: content[0].type is "video"', { ...entered, content: [{ type: 'video' }] }],
    ['input.entered: content is "x"; it must be a list', { ...entered, content: 'x' }],
    ['input.entered: lane is "weird"; it must be one of steer, note, followup', { ...entered, lane: 'weird' }],
    ['input.entered: lane is "control"', { ...entered, lane: 'control' }],
    ['input.entered: lane is "toString"', { ...entered, lane: 'toString' }],
    ['input.entered: origin.kind is missing', { ...entered, origin: {} }],
    ['input.entered: origin.name is null', { ...entered, origin: { kind: 'user', name: null } }],
    ['turn.ended: outcome.kind is "won"', { ...ended, outcome: { kind: 'won' } }],
    ['turn.ended: outcome.kind is "constructor"', { ...ended, outcome: { kind: 'constructor' } }],
    ['turn.ended: outcome.failure is missing', { ...ended, outcome: { kind: 'error' } }],
    ['turn.ended: outcome.failure.kind is "sad"', { ...ended, outcome: { kind: 'error', failure: { kind: 'sad' } } }],
    ['turn.ended: goal is "x"', { ...ended, goal: 'x' }],
    ['call.ended: outcome.reason is "bored"', { ...called, outcome: { kind: 'unknown', reason: 'bored' } }],
    ['call.ended: outcome.afterMs is null', { ...called, outcome: { kind: 'timeout', afterMs: null } }],
    ['reply.completed: calls[0].effect is "none"', { ...reply, calls: [{ ...CALL, effect: 'none' }] }],
    ['reply.completed: calls[0].args is []', { ...reply, calls: [{ ...CALL, args: [] }] }],
    ['reply.completed: calls[0].resources[0].mode', { ...reply, calls: [{ ...CALL, resources: [{ name: '*' }] }] }],
    ['reply.completed: parts[0].call is missing', { ...reply, parts: [{ type: 'call' }] }],
    ['reply.completed: usage.input is -1', { ...reply, usage: { ...USAGE, input: -1 } }],
    ['reply.completed: replay.route is missing', { ...reply, replay: { state: '' } }],
    ['call.approval-decided: grant is "ever"', { ...decided, grant: 'ever' }],
  ])('does not fit: %s', (problem, event: unknown) => {
    const value = typeof event === 'object' && event !== null && !Array.isArray(event) ? { ...HEAD, ...event } : event
    expect(shapeProblem(value)).toContain(problem)
  })

  it('is not nested without end, wherever that is', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as unknown
    for (const event of [
      { type: 'x.p.y', data: deep },
      { ...entered, more: deep },
    ])
      expect(shapeProblem({ ...HEAD, ...event })).toContain('nested more than 200 deep')
  })
})
