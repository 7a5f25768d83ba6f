/** The built declarations, as the compiler of a user sees them who does not skip the check of libraries. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const PROGRAM = `
import { agent, codingTools, createHarness, defer, memoryStore, open, tool, type Ask, type Plugin } from 'turnstep'
import { FakeClock } from 'turnstep/testing'

const pay = tool<{ amount: number }>({
  name: 'pay',
  description: 'pays',
  input: { type: 'object', properties: { amount: { type: 'number' } } },
  approval: ({ amount }) => amount > 100 && \`Pay \${amount}?\`,
  run: ({ amount }, { signal }) => (signal.aborted ? defer('the bank') : \`paid \${amount}\`),
})
const plugin: Plugin = { name: 'p', setup: (scope) => scope.on('decideCall', ({ args }) => ({ kind: 'allow', args })) }
const payer = agent({ model: 'deepseek/deepseek-chat', tools: [pay, ...codingTools({ root: '.' })], plugins: [plugin] })

export async function main(): Promise<readonly Ask[]> {
  await using session = await open(payer, { store: memoryStore({ clock: new FakeClock() }), session: 's' })
  const turn = await session.send('go')
  for await (const text of turn.text) text.toUpperCase()
  const harness = await createHarness({ store: 'memory' })
  await harness.close()
  const status = await session.status()
  return status.kind === 'waiting' ? status.asks : []
}
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnstep-types-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules', 'turnstep'), 'dir')
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the compiler says; nothing: all is well. */
async function compile(options: object): Promise<string> {
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: false, noEmit: true, typeRoots: [join(ROOT, 'node_modules', '@types')] },
    ...options,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', folder])
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
}

const BROWSER = { lib: ['es2023', 'dom'], types: [] }

it.each([
  ['the types of Node', { lib: ['es2023'], types: ['node'] }],
  ['those and the types of a browser', { lib: ['es2023', 'dom'], types: ['node'] }],
  ['the types of a browser alone', BROWSER],
  ['a bundler', { ...BROWSER, module: 'esnext', moduleResolution: 'bundler' }],
])('the declarations compile in a project with %s, libraries checked', async (_with, options) => {
  expect(await compile(options)).toBe('')
})

it('a mistake in a program is found by them', async () => {
  writeFileSync(join(folder, 'program.ts'), PROGRAM.replace("session: 's' }", "sesion: 's' }"))
  expect(await compile(BROWSER)).toContain("'sesion' does not exist")
})
