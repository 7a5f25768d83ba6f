import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeClock } from '../../host/node.ts'
import { runProcess } from '../../host/process.ts'
import type { Tool } from '../../runtime/define/tool.ts'
import { pause } from '../../runtime/pause.ts'
import { RESULT_LIMITS, sizeOf } from '../../util/cut.ts'
import { quickHash } from '../../util/hash.ts'
import { call, context, scratchFolder } from '../call.case.ts'
import { Workspace } from '../workspace.ts'
import { editFileTool, listFilesTool, readFileTool, writeFileTool } from './index.ts'
import { replaceFile } from './replace.ts'

let scratch: ReturnType<typeof scratchFolder>
let read: Tool
let list: Tool
let write: Tool
let edit: Tool

beforeAll(() => {
  scratch = scratchFolder()
  const workspace = new Workspace(scratch.path)
  read = readFileTool(workspace)
  list = listFilesTool(workspace)
  write = writeFileTool(workspace, {})
  edit = editFileTool(workspace, {})
})
afterAll(() => scratch.remove())

const at = (path: string): string => join(scratch.path, path)
const put = (path: string, content: string | Uint8Array): void => writeFileSync(at(path), content)
const get = (path: string): string => readFileSync(at(path), 'utf8')

describe('read_file', () => {
  it('gives the text as it is', async () => {
    put('plain.txt', 'one\ntwo\r\n\tthree')
    expect(await call(read, { path: 'plain.txt' })).toMatchObject({
      text: 'one\ntwo\r\n\tthree',
      code: null,
      footer: '',
    })
  })

  it('gives a range of lines, numbered if asked, and says how to go on', async () => {
    put('lines.txt', Array.from({ length: 50 }, (_, index) => `l${index + 1}\n`).join(''))
    const some = await call(read, { path: 'lines.txt', start_line: 10, line_count: 2, numbered: true })
    expect(some.text).toBe('10\tl10\n11\tl11\n')
    expect(some.footer).toBe('[lines 10 to 11 are shown; go on with start_line 12]')
    const last = await call(read, { path: 'lines.txt', start_line: 49 })
    expect([last.text, last.footer]).toEqual(['l49\nl50\n', ''])
  })

  it('says how many lines there are when a range is beyond them', async () => {
    put('short.txt', 'a\nb')
    expect(await call(read, { path: 'short.txt', start_line: 3 })).toMatchObject({
      code: 'no-such-line',
      text: '"short.txt" has 2 lines; line 3 is not there.',
    })
    put('empty.txt', '')
    expect((await call(read, { path: 'empty.txt' })).text).toBe('(the file is empty)')
    expect((await call(read, { path: 'none.txt' })).text).toBe('There is no "none.txt" in the workspace.')
  })

  it('C11: windows of a large file are within the result limit and lose nothing between them', async () => {
    const source = Array.from({ length: 9000 }, (_, index) => `line ${index + 1} ${'漢'.repeat(index % 30)}\n`).join('')
    put('large.txt', source)
    let all = ''
    let start = 1
    for (let windows = 0; windows < 50; windows++) {
      const { text, footer } = await call(read, { path: 'large.txt', start_line: start })
      const size = sizeOf(`${text}${footer}`)
      expect(size.bytes <= RESULT_LIMITS.bytes && size.lines <= RESULT_LIMITS.lines).toBe(true)
      all += text
      if (footer === '') break
      start = Number(/start_line (\d+)/.exec(footer)![1])
    }
    expect(all === source).toBe(true)
  })

  it('C11, case 098: one line of 3 MB shows its start, cut between characters', async () => {
    put('wide.txt', `${'😀'.repeat(800_000)}\nnext\n`)
    const first = await call(read, { path: 'wide.txt' })
    expect(sizeOf(first.text).bytes).toBeLessThanOrEqual(RESULT_LIMITS.bytes)
    expect(first.text).toMatch(/^(😀)+\n\[\.\.\. line 1 goes on/u)
    expect(first.footer).toContain('start_line 2')
    expect((await call(read, { path: 'wide.txt', start_line: 2 })).text).toBe('next\n')
  })

  it('knows a binary file, whatever its name', async () => {
    put('data.txt', new Uint8Array([1, 0, 2]))
    expect(await call(read, { path: 'data.txt' })).toMatchObject({
      code: 'binary',
      text: expect.stringContaining('3 bytes'),
    })
  })

  it('reads other encodings by name, and says when bytes are no text', async () => {
    put('gbk.txt', new Uint8Array([0xc4, 0xe3, 0xba, 0xc3]))
    const wrong = await call(read, { path: 'gbk.txt' })
    expect(wrong.footer).toContain('no text in this encoding')
    expect((await call(read, { path: 'gbk.txt', encoding: 'gbk' })).text).toBe('你好')
    put('utf16.txt', Buffer.from('\ufeffhi', 'utf16le'))
    expect((await call(read, { path: 'utf16.txt', encoding: 'utf-16le' })).text).toBe('hi')
    expect((await call(read, { path: 'gbk.txt', encoding: 'klingon' })).code).toBe('encoding')
  })

  it('gives an image as an image, and refuses one that is too large', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
    put('picture.png', png)
    const { result } = await call(read, { path: 'picture.png' })
    expect(result).toEqual([
      { type: 'text', text: 'picture.png: image/png, 16 bytes' },
      { type: 'image', mediaType: 'image/png', data: png.toString('base64') },
    ])
    put('huge.png', Buffer.concat([png, Buffer.alloc(6 * 1024 * 1024)]))
    expect((await call(read, { path: 'huge.png' })).code).toBe('too-large')
  })

  it('T7: a pipe without a writer does not hang it, and an aborted call reads nothing', async () => {
    const signal = new AbortController().signal
    await runProcess({ file: 'mkfifo', args: ['pipe'], cwd: scratch.path, clock: nodeClock, signal, timeoutMs: 5000 })
    expect((await call(read, { path: 'pipe' })).code).toBe('not-a-file')
    expect((await call(read, { path: 'plain.txt' }, { signal: AbortSignal.abort() })).code).toBe('aborted')
  })

  it('C8: refuses arguments that do not fit, with the schema', async () => {
    for (const args of [{}, { path: 1 }, { path: 'a', start_line: 0 }, { path: 'a', lines: 3 }])
      expect(await call(read, args)).toMatchObject({ code: 'invalid', text: expect.stringContaining('Schema: {') })
  })
})

describe('list_files', () => {
  it('lists one level by default, folders marked, links with their target, ignored files left out', async () => {
    mkdirSync(at('tree/src/deep'), { recursive: true })
    mkdirSync(at('tree/.git'))
    mkdirSync(at('tree/node_modules/pack'), { recursive: true })
    for (const path of [
      'b.txt',
      'src/a.ts',
      'src/deep/x.log',
      'src/deep/keep.log',
      'node_modules/pack/i.js',
      '.hidden',
    ])
      put(`tree/${path}`, '')
    put('tree/.gitignore', 'node_modules/\n*.log\n')
    put('tree/src/.gitignore', '!keep.log\n')
    symlinkSync('b.txt', at('tree/link'))
    expect((await call(list, { path: 'tree' })).text.split('\n')).toEqual([
      'tree/.gitignore',
      'tree/.hidden',
      'tree/b.txt',
      'tree/link -> b.txt',
      'tree/src/',
    ])
    expect((await call(list, { path: 'tree/src', depth: 3 })).text.split('\n')).toEqual([
      'tree/src/.gitignore',
      'tree/src/a.ts',
      'tree/src/deep/',
      'tree/src/deep/keep.log',
    ])
  })

  it('shows what is ignored when asked for, or when it is what is asked for', async () => {
    expect((await call(list, { path: 'tree', include_ignored: true })).text).toContain('tree/node_modules/')
    expect((await call(list, { path: 'tree/node_modules', depth: 2 })).text).toBe(
      'tree/node_modules/pack/\ntree/node_modules/pack/i.js',
    )
    expect((await call(list, { path: 'tree', include_ignored: true, depth: 3 })).text).not.toContain('.git/')
  })

  it('stops at its bound and says so', async () => {
    mkdirSync(at('many'))
    for (let index = 0; index < 1010; index++) put(`many/f${index}`, '')
    const { text, footer } = await call(list, { path: 'many' })
    expect(text.split('\n')).toHaveLength(1000)
    expect(footer).toContain('first 1000 entries')
    mkdirSync(at('nothing'))
    expect((await call(list, { path: 'nothing' })).text).toBe('(nothing here)')
  })
})

describe('write_file', () => {
  it('makes a file and the folders it needs, and replaces one', async () => {
    const made = await call(write, { path: 'new/deep/file.txt', content: 'ä\nb\n' })
    expect(made.text).toBe('Wrote 5 bytes, 2 lines to new/deep/file.txt (a new file).')
    const again = await call(write, { path: 'new/deep/file.txt', content: '' })
    expect(again.text).toContain('(replaced 5 bytes)')
    expect(get('new/deep/file.txt')).toBe('')
    expect(readdirSync(at('new/deep'))).toEqual(['file.txt'])
  })

  it('keeps the permissions of the file that it replaces', async () => {
    put('run.sh', 'old')
    chmodSync(at('run.sh'), 0o750)
    await call(write, { path: 'run.sh', content: 'new' })
    expect(statSync(at('run.sh')).mode & 0o777).toBe(0o750)
  })

  it('readers see the old text or the new one, never a part', async () => {
    const texts = ['a', 'b'].map((letter) => letter.repeat(300_000))
    put('swap.txt', texts[0]!)
    let over = false
    const seen = new Set<string>()
    const reader = (async () => {
      while (!over) {
        const text = get('swap.txt')
        seen.add(`${text[0]}${text.length}`)
        await pause(nodeClock, 0)
      }
    })()
    for (let index = 0; index < 30; index++) await call(write, { path: 'swap.txt', content: texts[index % 2]! })
    over = true
    await reader
    expect([...seen].every((one) => one === 'a300000' || one === 'b300000')).toBe(true)
  })

  it('case 100, X8: NUL is kept; half a surrogate pair is written as U+FFFD, and it says so', async () => {
    await call(write, { path: 'nul.txt', content: 'W\0s\\u0000' })
    expect(get('nul.txt')).toBe('W\0s\\u0000')
    expect((await call(write, { path: 'half.txt', content: 'a\ud83db' })).text).toContain('Half surrogate pairs')
    expect(get('half.txt')).toBe('a\ufffdb')
  })

  it('T7: an aborted call writes nothing and leaves nothing', async () => {
    expect((await call(write, { path: 'never.txt', content: 'x' }, { signal: AbortSignal.abort() })).code).toBe(
      'aborted',
    )
    expect(existsSync(at('never.txt'))).toBe(false)
  })

  it('C4: a draft that a crash left behind does not stand in the way of the next start', async () => {
    await call(write, { path: 'crash/file', content: '1' })
    put(`crash/.file.${quickHash(context().idempotencyKey)}.draft`, 'half')
    expect((await call(write, { path: 'crash/file', content: '2' })).code).toBeNull()
    expect(get('crash/file')).toBe('2')
    expect(readdirSync(at('crash'))).toEqual(['file'])
  })

  it('gives the refusal of the file system as an answer', async () => {
    put('blocked', '')
    expect((await call(write, { path: 'x'.repeat(256), content: '' })).code).toMatch(/io|path-invalid/)
    expect((await call(write, { path: 'blocked/x', content: '' })).code).toBe('path-invalid')
  })

  it('C4, A1: is a write, and asks only if told to, in the language of the person', () => {
    const workspace = new Workspace(scratch.path)
    expect([write.effect, edit.effect, write.reconcile, write.approval({ path: 'a', content: '' })]).toEqual([
      'write',
      'write',
      null,
      null,
    ])
    const zh = { approval: 'ask', locale: 'zh' } as const
    expect(writeFileTool(workspace, zh).approval({ path: 'a.txt', content: '' })).toBe('写入文件 a.txt')
    expect(editFileTool(workspace, { approval: 'ask' }).approval({ path: 'a.txt' })).toBe('Edit the file a.txt')
  })
})

describe('edit_file', () => {
  const source = 'function one() {\n  return 1\n}\n\nfunction two() {\n  return 1\n}\n'

  it('replaces the one place, and says where', async () => {
    put('edit.ts', source)
    const { text } = await call(edit, {
      path: 'edit.ts',
      old_text: 'two() {\n  return 1',
      new_text: 'two() {\n  return $&',
    })
    expect(text).toBe('Edited edit.ts: line 5.')
    expect(get('edit.ts')).toBe(source.replace('two() {\n  return 1', () => 'two() {\n  return $&'))
  })

  it('refuses a text that stands at several places, and names them; all: true means them all', async () => {
    put('edit.ts', source)
    const several = await call(edit, { path: 'edit.ts', old_text: 'return 1', new_text: 'return 2' })
    expect(several).toMatchObject({
      code: 'ambiguous',
      text: expect.stringContaining('found 2 times in "edit.ts", at lines 2, 6'),
    })
    expect(get('edit.ts')).toBe(source)
    await call(edit, { path: 'edit.ts', old_text: 'return 1', new_text: 'return 1 + 1', all: true })
    expect(get('edit.ts')).toBe(source.replaceAll('return 1', 'return 1 + 1'))
  })

  it('says when only white space differs, and what the file has', async () => {
    put('edit.ts', source)
    const answer = await call(edit, {
      path: 'edit.ts',
      old_text: 'function one() {\n\treturn 1;\n}'.replace(';', ''),
      new_text: 'x',
    })
    expect(answer.code).toBe('not-found')
    expect(answer.text).toContain('Only white space differs. Lines 1 to 3 are:\nfunction one() {\n  return 1\n}')
  })

  it('shows the nearest lines when the text is remembered not quite rightly', async () => {
    put('edit.ts', source)
    const answer = await call(edit, { path: 'edit.ts', old_text: 'function twos(x) {', new_text: 'x' })
    expect(answer.text).toContain('The nearest is at line 5:\nfunction two() {\n  return 1\n}')
    const nothing = await call(edit, { path: 'edit.ts', old_text: 'zzzz qqqq', new_text: 'x' })
    expect(nothing.text).toContain('Nothing in its 8 lines is like it. Read the file first.')
  })

  it('is quick about a text that is not in a large file', async () => {
    put('large.ts', 'const value = compute(1, 2, 3)\n'.repeat(200_000))
    expect(
      (await call(edit, { path: 'large.ts', old_text: 'const valued = compute(9)', new_text: 'x' })).text,
    ).toContain('nearest')
  })

  it('finds plain line breaks in a file with CRLF, and keeps its kind of line break', async () => {
    put('crlf.txt', '\ufeffa\r\nb\r\nc\r\n')
    await call(edit, { path: 'crlf.txt', old_text: 'a\nb', new_text: 'a\nx\nb' })
    expect(get('crlf.txt')).toBe('\ufeffa\r\nx\r\nb\r\nc\r\n')
  })

  it.each([
    ['nothing to change', { old_text: 'one', new_text: 'one' }, 'no-change'],
    ['no text to look for', { old_text: '', new_text: 'one' }, 'invalid'],
  ])('refuses %s', async (_what, texts, code) => {
    put('edit.ts', source)
    expect((await call(edit, { path: 'edit.ts', ...texts })).code).toBe(code)
  })

  it('does not damage what it cannot write back: binary files and other encodings', async () => {
    const gbk = new Uint8Array([0x61, 0xc4, 0xe3])
    put('gbk2.txt', gbk)
    expect(await call(edit, { path: 'gbk2.txt', old_text: 'a', new_text: 'b' })).toMatchObject({
      code: 'encoding',
      text: expect.stringContaining('iconv'),
    })
    expect(readFileSync(at('gbk2.txt')).equals(gbk)).toBe(true)
    put('bin', new Uint8Array([0x61, 0]))
    expect((await call(edit, { path: 'bin', old_text: 'a', new_text: 'b' })).code).toBe('binary')
    expect((await call(edit, { path: 'gone', old_text: 'a', new_text: 'b' })).code).toBe('missing')
  })

  it('leaves a file alone that somebody changed after it was read', async () => {
    const workspace = new Workspace(scratch.path)
    put('shared.txt', 'theirs')
    const place = workspace.resolve('shared.txt')
    const since = place.stats!
    put('shared.txt', 'theirs, longer')
    const replaced = replaceFile(workspace, place, 'ours', { key: 'k', signal: context().signal, since })
    await expect(replaced).rejects.toMatchObject({ code: 'changed' })
    expect(get('shared.txt')).toBe('theirs, longer')
  })

  it('C6: edits of different files at once all arrive', async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `many-${index}.txt`)
    for (const path of paths) put(path, 'old')
    await Promise.all(
      paths.map((path) => call(edit, { path, old_text: 'old', new_text: path }, { idempotencyKey: path })),
    )
    expect(paths.map(get)).toEqual(paths)
  })
})
