import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, scratchFolder } from '../tools/call.case.ts'
import { codingTools } from './coding-tools.ts'

let scratch: ReturnType<typeof scratchFolder>
beforeAll(() => {
  scratch = scratchFolder()
})
afterAll(() => scratch.remove())

describe('codingTools', () => {
  it('are seven tools with schemas that a model can read', () => {
    const tools = codingTools({ root: scratch.path })
    expect(tools.map(({ name, effect }) => `${name}:${effect}`)).toEqual([
      'read_file:read',
      'list_files:read',
      'write_file:write',
      'edit_file:write',
      'grep:read',
      'find_files:read',
      'shell:write',
    ])
    for (const { parameters, description } of tools) {
      expect(parameters).toMatchObject({ type: 'object', additionalProperties: false })
      expect(description.length).toBeGreaterThan(40)
    }
    expect(codingTools({ root: scratch.path, shell: false })).toHaveLength(6)
  })

  it('work together on one workspace', async () => {
    const [read, , write, edit, grep, , shell] = codingTools({ root: scratch.path, approval: 'never' })
    await call(write!, { path: 'src/sum.sh', content: 'echo $((1 + 1))\n' })
    await call(edit!, { path: 'src/sum.sh', old_text: '1 + 1', new_text: '20 + 22' })
    expect((await call(shell!, { command: 'sh sum.sh', cwd: 'src' })).text).toBe('42\n')
    expect((await call(grep!, { pattern: '2\\d' })).text).toBe('src/sum.sh:1:echo $((20 + 22))')
    expect((await call(read!, { path: 'src/sum.sh' })).text).toBe('echo $((20 + 22))\n')
  })

  it('A1: only the shell asks, unless changes of files are to be asked for too', () => {
    const asking = (options: object) =>
      codingTools({ root: scratch.path, ...options })
        .filter((tool) => tool.approval({ path: 'a', command: 'ls' }) !== null)
        .map(({ name }) => name)
    expect(asking({})).toEqual(['shell'])
    expect(asking({ approval: 'never' })).toEqual([])
    expect(asking({ fileApproval: 'ask' })).toEqual(['write_file', 'edit_file', 'shell'])
  })

  it('A1: the project configuration and .git are asked for whatever the options say', () => {
    const tools = codingTools({ root: scratch.path, approval: 'never', fileApproval: 'never', locale: 'zh' })
    for (const path of ['turnstep.config.mjs', '.git/hooks/pre-commit']) {
      const asking = tools.filter((tool) => tool.approval({ path, command: 'ls' })?.includes(path) === true)
      expect(asking.map(({ name }) => name)).toEqual(['write_file', 'edit_file'])
    }
  })
})
