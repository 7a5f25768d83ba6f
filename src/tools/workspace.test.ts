import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { call, scratchFolder } from './call.case.ts'
import { editFileTool, listFilesTool, readFileTool, writeFileTool } from './files/index.ts'
import { Refusal } from './refusal.ts'
import { findFilesTool, grepTool } from './search/index.ts'
import { Workspace } from './workspace.ts'

let scratch: ReturnType<typeof scratchFolder>
let root: string
let outside: string
let count = 0

beforeAll(() => {
  scratch = scratchFolder()
})
afterAll(() => scratch.remove())

beforeEach(() => {
  const base = join(scratch.path, `w${++count}`)
  root = join(base, 'ws')
  outside = join(base, 'outside')
  for (const folder of [join(root, 'src/deep'), join(outside, 'sub'), `${root}-neighbour`])
    mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'inside\n')
  writeFileSync(join(root, 'src/b.txt'), 'b\n')
  for (const place of [outside, join(outside, 'sub'), `${root}-neighbour`])
    writeFileSync(join(place, 'secret'), 'secret\n')
  const links: readonly (readonly [target: string, path: string])[] = [
    ['/', 'slash'],
    [outside, 'out'],
    ['../outside', 'out-relative'],
    [join(outside, 'secret'), 'out-file'],
    [join(outside, 'none'), 'dangling'],
    ['../outside/none/deeper', 'dangling-deep'],
    ['out', 'chain'],
    ['chain/sub', 'chain-sub'],
    ['dangling', 'chain-dangling'],
    ['../../outside', 'src/out'],
    ['..', 'up'],
    ['/proc/self/cwd', 'magic'],
    ['loop', 'loop'],
    ['a.txt', 'link-file'],
    ['src', 'link-folder'],
    ['src/new.txt', 'link-new'],
    ['../ws/a.txt', 'out-and-in'],
  ]
  for (const [target, path] of links) symlinkSync(target, join(root, path))
})

/** Everything outside, as it was made. */
function expectOutsideUntouched(): void {
  expect(readdirSync(outside).toSorted()).toEqual(['secret', 'sub'])
  expect(readdirSync(join(outside, 'sub'))).toEqual(['secret'])
  expect(readdirSync(`${root}-neighbour`)).toEqual(['secret'])
  expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret\n')
}

describe('the border of the workspace (case 085)', () => {
  const escapes: readonly (readonly [what: string, path: string | (() => string)])[] = [
    ['the folder above', '..'],
    ['a file above', '../outside/secret'],
    ['a way down and up', 'src/../../outside/secret'],
    ['a way through what does not exist', 'no/such/../../../outside/secret'],
    ['an absolute path', () => join(outside, 'secret')],
    ['the root of the system', '/'],
    ['a system file', '/etc/passwd'],
    ['a folder whose name starts like the workspace', () => `${root}-neighbour/secret`],
    ['the same, relative', '../ws-neighbour/secret'],
    ['an absolute path back through the workspace', () => join(root, '../outside/secret')],
    ['a link to the root of the system', 'slash/etc/passwd'],
    ['a link to a folder outside', 'out/secret'],
    ['a new file in a linked folder', 'out/n'],
    ['a new folder in a linked folder', 'out/new/deep/n'],
    ['a relative link to a folder outside', 'out-relative/secret'],
    ['a link to a file outside', 'out-file'],
    ['a dangling link', 'dangling'],
    ['a path below a dangling link', 'dangling/n'],
    ['a dangling link into a folder that does not exist', 'dangling-deep'],
    ['a link to a link', 'chain/secret'],
    ['a link to a path through a link', 'chain-sub/secret'],
    ['a link to a dangling link', 'chain-dangling'],
    ['a link in a folder below', 'src/out/secret'],
    ['a link to the folder above', 'up/outside/secret'],
    ['a link that the system makes up', 'magic/x'],
    ['a link with slashes around it', './/out//.//secret'],
    ['a link by the absolute path of the workspace', () => join(root, 'out/secret')],
  ]

  it.each(escapes)('case 085: %s is refused by every tool, and nothing is made outside', async (_what, given) => {
    const path = typeof given === 'string' ? given : given()
    const workspace = new Workspace(root)
    expect(() => workspace.resolve(path)).toThrow(Refusal)
    expect(workspace.uses(path, 'write')).toEqual([])
    const answers = [
      await call(readFileTool(workspace), { path }),
      await call(listFilesTool(workspace), { path }),
      await call(writeFileTool(workspace, {}), { path, content: 'x' }),
      await call(editFileTool(workspace, {}), { path, old_text: 'secret', new_text: 'x' }),
      await call(grepTool(workspace), { path, pattern: 'secret' }),
      await call(findFilesTool(workspace), { path, glob: '*' }),
    ]
    expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 'outside'))
    expect(answers.some(({ text }) => text.includes('secret\n'))).toBe(false)
    expectOutsideUntouched()
  })

  it.each([
    ['a NUL', 'a\0.txt', 'path-invalid'],
    ['a NUL that hides an ending', '../outside/secret\0.txt', 'path-invalid'],
    ['a link to itself', 'loop', 'path-invalid'],
    ['a path below a file', 'a.txt/b', 'path-invalid'],
    ['a name that is too long', 'x'.repeat(5000), 'path-invalid'],
  ])('%s is refused', async (_what, path, code) => {
    const workspace = new Workspace(root)
    expect((await call(readFileTool(workspace), { path })).code).toBe(code)
    expect((await call(writeFileTool(workspace, {}), { path, content: 'x' })).code).toBe(code)
    expectOutsideUntouched()
  })

  it.each([
    ['a plain path', 'a.txt', 'a.txt'],
    ['a path with dots inside', './src/../a.txt', 'a.txt'],
    ['a link to a file', 'link-file', 'a.txt'],
    ['a linked folder', 'link-folder/b.txt', 'src/b.txt'],
    ['a dangling link that stays inside', 'link-new', 'src/new.txt'],
    ['a link that leaves and comes back', 'out-and-in', 'a.txt'],
    ['a file that does not exist', 'no/such/file', 'no/such/file'],
    ['a name with two dots in it', 'a..b/..c', 'a..b/..c'],
    ['the workspace itself', '', '.'],
  ])('case 085: %s stays usable', (_what, path, shown) => {
    expect(new Workspace(root).resolve(path).shown).toBe(shown)
    expect(new Workspace(root).resolve(join(root, path)).shown).toBe(shown)
  })

  it('case 085: writing through a link inside changes what it leads to, and keeps the link', async () => {
    const workspace = new Workspace(root)
    expect((await call(writeFileTool(workspace, {}), { path: 'link-new', content: 'new' })).code).toBeNull()
    expect(readFileSync(join(root, 'src/new.txt'), 'utf8')).toBe('new')
    expect(readFileSync(join(root, 'link-new'), 'utf8')).toBe('new')
  })

  it('case 085: a workspace that is a link itself works by both its names', async () => {
    const link = join(outside, '../ws-link')
    symlinkSync(root, link)
    const workspace = new Workspace(link)
    for (const path of ['a.txt', join(link, 'a.txt'), join(root, 'a.txt')])
      expect((await call(readFileTool(workspace), { path })).text).toBe('inside\n')
    expect((await call(readFileTool(workspace), { path: 'out/secret' })).code).toBe('outside')
    expect(workspace.uses('a.txt', 'write')).toEqual(new Workspace(root).uses('link-file', 'write'))
  })

  it('says so when the workspace is not there', async () => {
    const answer = await call(readFileTool(new Workspace(join(root, 'gone'))), { path: 'a' })
    expect([answer.code, answer.text]).toEqual(['missing', expect.stringContaining('workspace itself')])
  })
})

describe('between the look and the opening (case 085)', () => {
  it('case 085: a file that became a link is not followed', async () => {
    const workspace = new Workspace(root)
    const place = workspace.resolve('a.txt')
    renameSync(join(root, 'a.txt'), join(root, 'old'))
    symlinkSync(join(outside, 'secret'), join(root, 'a.txt'))
    await expect(workspace.openFile(place)).rejects.toMatchObject({ code: 'moved' })
  })

  it('case 085: a folder that became a link is seen, for reading, listing and writing', async () => {
    const workspace = new Workspace(root)
    const file = workspace.resolve('src/b.txt')
    const fresh = workspace.resolve('src/secret')
    const folder = workspace.resolve('src')
    renameSync(join(root, 'src'), join(root, 'old'))
    symlinkSync(outside, join(root, 'src'))
    writeFileSync(join(outside, 'b.txt'), 'other')
    await expect(workspace.openFile(file)).rejects.toMatchObject({ code: 'moved' })
    await expect(workspace.list(folder)).rejects.toBeInstanceOf(Refusal)
    await expect(workspace.inFolder(fresh, async () => 'in')).rejects.toBeInstanceOf(Refusal)
    expect(readFileSync(join(outside, 'b.txt'), 'utf8')).toBe('other')
  })

  it.runIf(process.platform === 'linux')(
    'case 085: a folder that is swapped after it was opened leads nowhere else',
    async () => {
      const workspace = new Workspace(root)
      await workspace.inFolder(workspace.resolve('src/new.txt'), async (at, name) => {
        renameSync(join(root, 'src'), join(root, 'old'))
        symlinkSync(outside, join(root, 'src'))
        writeFileSync(join(at, name), 'x')
      })
      expect(readFileSync(join(root, 'old/new.txt'), 'utf8')).toBe('x')
      expectOutsideUntouched()
    },
  )

  it('a pipe is not waited for, and a folder is no file', async () => {
    const workspace = new Workspace(root)
    expect((await call(readFileTool(workspace), { path: 'src' })).code).toBe('not-a-file')
    expect((await call(writeFileTool(workspace, {}), { path: 'src', content: '' })).code).toBe('not-a-file')
    expect((await call(listFilesTool(workspace), { path: 'a.txt' })).code).toBe('not-a-folder')
  })

  it('a hard link cannot be told from a file: the border is of paths', () => {
    linkSync(join(outside, 'secret'), join(root, 'hard'))
    expect(new Workspace(root).resolve('hard').shown).toBe('hard')
  })

  it('no descriptor is left open, however it ends', async () => {
    if (process.platform !== 'linux') return
    const workspace = new Workspace(root)
    const open = (): number => readdirSync('/proc/self/fd').length
    await call(readFileTool(workspace), { path: 'a.txt' })
    const before = open()
    for (const path of ['a.txt', 'src', 'none', 'out/secret', 'x/y/z']) {
      await call(readFileTool(workspace), { path })
      await call(writeFileTool(workspace, {}), { path, content: 'x' })
      await call(listFilesTool(workspace), { path })
    }
    expect(open()).toBe(before)
    expect(existsSync(join(root, 'x/y/z'))).toBe(true)
  })
})

describe('resources (C6)', () => {
  it('C6: names a file by its real path, so that links to it conflict and different files overlap', () => {
    const workspace = new Workspace(root)
    const real = `file:${join(root, 'a.txt')}`
    expect(workspace.uses('link-file', 'write')).toEqual([{ name: real, mode: 'write' }])
    expect(workspace.uses('./src/../a.txt', 'read')).toEqual([{ name: real, mode: 'read' }])
    const edit = editFileTool(workspace, {})
    expect(edit.resources({ path: 'a.txt', old_text: 'a', new_text: 'b' })).toEqual([{ name: real, mode: 'write' }])
    expect(readFileTool(workspace).resources({ path: 'a.txt' })).toEqual([{ name: real, mode: 'read' }])
  })

  it('C6: tools that look at many files share with readers and wait for changes', () => {
    const workspace = new Workspace(root)
    const all = [{ name: '*', mode: 'read' }]
    for (const made of [listFilesTool(workspace), grepTool(workspace), findFilesTool(workspace)])
      expect([made.effect, made.resources({})]).toEqual(['read', all])
  })
})
