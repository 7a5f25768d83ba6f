import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { call, scratchFolder } from './call.case.ts'
import { editFileTool, readFileTool, writeFileTool } from './files/index.ts'
import type { FileOptions } from './files/texts.ts'
import { guardOf } from './guard.ts'
import { Workspace } from './workspace.ts'

let scratch: ReturnType<typeof scratchFolder>
let root: string
let count = 0

beforeAll(() => {
  scratch = scratchFolder()
})
afterAll(() => scratch.remove())

beforeEach(() => {
  root = join(scratch.path, `w${++count}`)
  for (const folder of ['.git/hooks', '.turnstep', 'src', 'shared']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, '.turnstep/sessions.db'), 'sessions')
  const links: readonly (readonly [target: string, path: string])[] = [
    ['turnstep.config.mjs', 'notes.txt'],
    ['notes.txt', 'src/notes-of-notes'],
    ['../notes.txt', 'src/notes'],
    ['.git', 'repository'],
    ['.turnstep', 'state'],
    ['.turnstep/sessions.db', 'sessions'],
    ['shared/settings.mjs', 'turnstep.config.ts'],
    ['turnstep.config.ts', 'settings'],
  ]
  for (const [target, path] of links) symlinkSync(target, join(root, path))
})

function questions(path: string, options: FileOptions = {}): readonly (string | null)[] {
  const workspace = new Workspace(root)
  return [
    writeFileTool(workspace, options).approval({ path, content: '' }),
    editFileTool(workspace, options).approval({ path, old_text: 'a', new_text: 'b' }),
  ]
}

describe('what runs as code is asked for (A1)', () => {
  it.each([
    ['turnstep.config.mjs', 'turnstep.config.* as code'],
    ['./src/../turnstep.config.json', 'turnstep.config.* as code'],
    ['TurnStep.Config.MJS', 'turnstep.config.* as code'],
    ['src/new/turnstep.config.js', 'turnstep.config.* as code'],
    ['.git/hooks/pre-commit', 'files in .git'],
    ['.git/config', 'files in .git'],
    ['.GIT/config', 'files in .git'],
    ['.g\u200cit/config', 'files in .git'],
    ['.git./config', 'files in .git'],
    ['src/vendor/.git/config', 'files in .git'],
    ['src/.git', 'files in .git'],
  ])('A1: %j, although other changes are not', (path, why) => {
    for (const question of questions(path)) expect(question).toContain(why)
    for (const question of questions(join(root, path))) expect(question).toContain(why)
  })

  it.each([
    ['notes.txt', 'turnstep.config.mjs'],
    ['src/notes', 'turnstep.config.mjs'],
    ['repository/hooks/post-merge', '.git/hooks/post-merge'],
    ['turnstep.config.ts', 'shared/settings.mjs'],
    ['settings', 'shared/settings.mjs'],
  ])('A1: through the link %s, naming the place that it leads to', (path, place) => {
    expect(questions(path)[0]).toContain(path === place ? path : `Write the file ${place}, through ${path}.`)
  })

  it('A1: with the reason, in the language of the person', () => {
    expect(questions('turnstep.config.mjs')).toEqual([
      'Write the file turnstep.config.mjs. The turnstep command runs turnstep.config.* as code at its next start.',
      'Edit the file turnstep.config.mjs. The turnstep command runs turnstep.config.* as code at its next start.',
    ])
    expect(questions('.git/config', { locale: 'zh', approval: 'ask' })[0]).toBe(
      '写入文件 .git/config。Git 会执行 .git 中的文件所指定的程序。',
    )
  })

  it('A1: with the end of a path that is too long to be shown', () => {
    const path = `${'deep/'.repeat(100)}.git/hooks/pre-push`
    expect(questions(path)[0]).toContain('deep/.git/hooks/pre-push. Git runs')
  })

  it.each([
    'a.txt',
    '.gitignore',
    '.github/workflows/ci.yml',
    'src/git/config',
    'turnstep.md',
    'turnstep.configs',
    'src/turnstep/a',
    'shared/settings.mjs',
    'src/notes-of-notes',
    '../.git/config',
  ])('nothing else: %s', (path) => {
    expect(questions(path)).toEqual([null, null])
  })

  it('a change that was approved is made', async () => {
    const workspace = new Workspace(root)
    expect(
      (await call(writeFileTool(workspace, {}), { path: 'notes.txt', content: 'export default {}' })).code,
    ).toBeNull()
    expect(readFileSync(join(root, 'turnstep.config.mjs'), 'utf8')).toBe('export default {}')
  })
})

describe('what Turnstep keeps', () => {
  it.each([
    '.turnstep/evil.txt',
    '.turnstep/sessions.db',
    '.Turnstep/evil.txt',
    'src/.turnstep/evil.txt',
    'state/evil.txt',
    'sessions',
    '.turnstep/.git/config',
  ])('is changed by nobody else: %s', async (path) => {
    const workspace = new Workspace(root)
    const answers = [
      await call(writeFileTool(workspace, {}), { path, content: 'x' }),
      await call(editFileTool(workspace, {}), { path, old_text: 'sessions', new_text: 'x' }),
    ]
    expect(answers.map(({ code }) => code)).toEqual(['guarded', 'guarded'])
    expect(questions(path)).toEqual([null, null])
    expect(readdirSync(join(root, '.turnstep'))).toEqual(['sessions.db'])
    expect(readFileSync(join(root, '.turnstep/sessions.db'), 'utf8')).toBe('sessions')
    expect([existsSync(join(root, '.Turnstep')), existsSync(join(root, 'src/.turnstep'))]).toEqual([false, false])
  })

  it('may be read, as everything inside', async () => {
    expect((await call(readFileTool(new Workspace(root)), { path: '.turnstep/sessions.db' })).text).toBe('sessions')
  })

  it('is only what is below the workspace: the workspace itself may stand anywhere', async () => {
    const inner = new Workspace(join(root, '.turnstep'))
    expect((await call(writeFileTool(inner, {}), { path: 'a.txt', content: 'x' })).code).toBeNull()
  })
})

describe('guardOf', () => {
  it.each([
    [[], null],
    [['src', 'a.ts'], null],
    [['.git', 'turnstep.config.ts'], 'git'],
    [['.git', '.turnstep'], 'state'],
    [['.git::$INDEX_ALLOCATION'], 'git'],
    [['.ｇit'], 'git'],
  ] as const)('%j is %s', (names, guard) => {
    expect(guardOf(names)).toBe(guard)
  })
})
