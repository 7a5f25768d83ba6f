import { describe, expect, it } from 'vitest'
import { flagsOf } from './flags.ts'

describe('the flags of npm run sim', () => {
  it('are read, and what is not given is null', () => {
    const none = { seed: null, replay: null, seeds: null, from: null, minutes: null, threads: null, keep: null }
    expect(flagsOf([])).toEqual({ ...none, json: false })
    expect(flagsOf(['--from', '3', '--minutes', '0.5', '--json'])).toEqual({
      ...none,
      from: 3,
      minutes: 0.5,
      json: true,
    })
    expect(flagsOf(['--seed', '3', '--keep', 'kept'])).toEqual({ ...none, seed: 3, keep: 'kept', json: false })
  })

  it('--help is no fault', () => {
    expect(flagsOf(['--help'])).toEqual({ wrong: null })
  })

  it.each([
    ['--seeds 0', '--seeds is "0"; give a whole number from 1 up'],
    ['--seeds=-1', '--seeds is "-1"'],
    ['--seeds 2.5', '--seeds is "2.5"'],
    ['--seeds=', '--seeds is ""'],
    ['--seed x', '--seed is "x"'],
    ['--from NaN', '--from is "NaN"'],
    ['--threads 0', '--threads is "0"'],
    ['--minutes 0', '--minutes is "0"; give a number above 0'],
    ['--minutes Infinity', '--minutes is "Infinity"'],
    ['--sedes 3', "'--sedes'"],
    ['--seeds', "'--seeds <value>' argument missing"],
    ['30', "'30'"],
    ['--seed 3 --seeds 2', '--seed is given with --seeds; leave one of them out'],
    ['--seed 3 --minutes 1', '--seed is given with --minutes'],
    ['--seed 3 --replay a.json', '--seed is given with --replay'],
    ['--replay a.json --from 2', '--replay is given with --from'],
    ['--replay a.json --json', '--replay is given with --json'],
  ])('refuses %s', (line, says) => {
    expect(flagsOf(line.split(' '))).toEqual({ wrong: expect.stringContaining(says) })
  })
})
