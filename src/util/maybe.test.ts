import { describe, expect, it } from 'vitest'
import { thenable } from '../../test/kit/thenable.ts'
import { after, isLater, type Maybe } from './maybe.ts'

describe('what may be there at once', () => {
  it('is gone on with at once if it is', () => {
    expect(after(1, (value) => value + 1)).toBe(2)
    expect(after(undefined, () => 'done')).toBe('done')
  })

  it('is waited for if it is not', async () => {
    const later = after(Promise.resolve(1), (value) => value + 1)
    expect(isLater(later)).toBe(true)
    expect(await later).toBe(2)
    await expect(after(Promise.reject(new Error('no')), () => 1)).rejects.toThrow('no')
  })

  it('may be promised by another library, or from another realm', async () => {
    const foreign: Maybe<number> = thenable<number>((resolve) => resolve(1))
    expect(isLater(foreign)).toBe(true)
    expect(await after(foreign, (value) => value + 1)).toBe(2)
  })
})
