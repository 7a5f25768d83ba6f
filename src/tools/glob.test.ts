import { describe, expect, it } from 'vitest'
import { globMatcher } from './glob.ts'

describe('globMatcher', () => {
  it.each([
    // glob, matching paths, other paths
    ['*.ts', ['a.ts', 'x/y/a.ts', '.ts', 'x/.a.ts'], ['a.tsx', 'a.ts/b']],
    ['./*.ts', ['a.ts'], ['x/a.ts']],
    ['/src/*.ts', ['src/a.ts'], ['src/x/a.ts', 'x/src/a.ts']],
    ['src/**/*.test.ts', ['src/a.test.ts', 'src/x/y/a.test.ts'], ['a.test.ts', 'src/a.ts', 'x/src/a.test.ts']],
    ['**/node_modules/**', ['node_modules/a', 'x/node_modules/y/z'], ['node_module/a']],
    ['src/', ['src/a', 'src/x/y'], ['x/src/a']],
    ['docs/{en,zh}/*.md', ['docs/en/a.md', 'docs/zh/b.md'], ['docs/de/a.md', 'docs/{en,zh}/a.md']],
    ['*.{ts,{js,mjs}x}', ['a.ts', 'a.jsx', 'a.mjsx'], ['a.js']],
    ['{a}.txt', ['{a}.txt'], ['a.txt']],
    ['a?c', ['abc', 'a😀c'], ['ac', 'a/c', 'abbc']],
    ['[a-c0].md', ['a.md', 'c.md', '0.md'], ['d.md', '-.md', 'ab.md']],
    ['[!a-c]', ['d', '漢'], ['a']],
    ['[]x]', [']', 'x'], ['[']],
    ['a[b', ['a[b'], ['ab']],
    ['\\*.md', ['*.md'], ['a.md']],
    ['*', ['a', 'x/b', '.c'], []],
    ['**', ['a', 'x/b'], []],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['!*.md', ['a.ts', 'x/b.ts'], ['a.md', 'x/b.md']],
    ['a*b*c*d', ['abcd', 'a1b2c3d', 'abcdbcd'], ['abdc', 'abc']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c'], ['a/c', 'a/b', 'b/c']],
    ['src/App.tsx', ['src/App.tsx'], ['src/app.tsx']],
  ] as const)('%s', (glob, matching, others) => {
    const isMatch = globMatcher(glob)
    expect(matching.filter((path) => !isMatch(path))).toEqual([])
    expect(others.filter((path) => isMatch(path))).toEqual([])
  })

  it('takes no more than pattern times path, whatever a model writes', () => {
    expect(globMatcher(`${'*a'.repeat(400)}b`)('a'.repeat(4000))).toBe(false)
    expect(globMatcher(`${'**/a/'.repeat(100)}b`)(`${'a/'.repeat(1000)}c`)).toBe(false)
    expect(globMatcher('{a,b}'.repeat(30))('a'.repeat(30))).toBe(false)
    expect(globMatcher(`${'{'.repeat(500)}a,b${'}'.repeat(500)}`)('x')).toBe(false)
  })
})
