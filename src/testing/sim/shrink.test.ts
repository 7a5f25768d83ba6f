import { describe, expect, it } from 'vitest'
import { shrink, simplerThan, type Written } from './shrink.ts'

const numbered = (length: number): Written => ({
  moves: Array.from({ length }, (_, at) => [at + 1, `move ${at}`, at] as const),
  decisions: Array.from(
    { length },
    (_, at) => [at + 1, `kind${at % 5} ${at}`, { ms: at, list: [{ a: at }, { b: 1 }] }] as const,
  ),
})

/** Breaks if all of these are there. */
const breaksWith = (names: readonly string[]) => {
  let replays = 0
  const breaks = async (candidate: Written): Promise<Written | null> => {
    replays++
    const there = new Set([...candidate.moves, ...candidate.decisions].map(([, name]) => name))
    return names.every((name) => there.has(name)) ? candidate : null
  }
  return { breaks, replays: () => replays }
}

describe('shrinking', () => {
  it('leaves what is needed and nothing else, and makes its values plain', async () => {
    const { breaks } = breaksWith(['move 17', 'move 60', 'kind3 33'])
    expect(await shrink(numbered(100), breaks)).toEqual({
      moves: [
        [1, 'move 17', 0],
        [2, 'move 60', 0],
      ],
      decisions: [[0, 'kind3 33', {}]],
    })
  })

  it('goes on from what a candidate played, which may be less than it was', async () => {
    const breaks = async ({ moves, decisions }: Written): Promise<Written | null> => {
      const at = moves.findIndex(([, name]) => name === 'move 5')
      return at < 0 ? null : { moves: moves.slice(0, at + 1), decisions }
    }
    expect(await shrink(numbered(50), breaks)).toEqual({ moves: [[1, 'move 5', 0]], decisions: [] })
  })

  it('ends, with the best it has, where every replay is another run', async () => {
    const { breaks, replays } = breaksWith(numbered(400).moves.map(([, name]) => name))
    expect((await shrink(numbered(400), breaks)).moves).toHaveLength(400)
    expect(replays()).toBeLessThanOrEqual(600)
  })

  it('a value has plainer ones: smaller numbers, shorter lists, fewer fields', () => {
    expect([...simplerThan(5)]).toEqual([0, 2, 4])
    expect([...simplerThan([1, 0])]).toEqual([[0, 0]])
    expect([...simplerThan([{ a: 'x' }, { b: 'y' }])]).toEqual([
      [{ b: 'y' }],
      [{ a: 'x' }],
      [{}, { b: 'y' }],
      [{ a: 'x' }, {}],
    ])
    expect([...simplerThan({ a: 1 })]).toEqual([{}, { a: 0 }])
    expect([...simplerThan('text')]).toEqual([])
  })
})
