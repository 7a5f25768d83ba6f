import { describe, expect, it } from 'vitest'
import { RULES, showFinding } from './rules.ts'
import { treeOf } from './tree.ts'

interface Sample {
  readonly rule: string
  readonly says: string
  readonly files: Readonly<Record<string, string>>
  /** What is found; nothing, for a sample that must pass. */
  readonly found: readonly string[]
}

const manifest = JSON.stringify({
  exports: { '.': { default: './dist/index.js' } },
  bin: { turnstep: './dist/cli/bin.js' },
  dependencies: { ajv: '1.0.0' },
  devDependencies: { zod: '1.0.0' },
})
const entries = { 'package.json': manifest, 'src/cli/bin.ts': '' }
const long = (lines: number): string => 'work()\n'.repeat(lines)

const SAMPLES: readonly Sample[] = [
  {
    rule: 'layers',
    says: 'an import that points up',
    files: { 'src/kernel/a.ts': `import type { B } from '../runtime/b.ts'` },
    found: ['src/kernel/a.ts:1 kernel may not import runtime (../runtime/b.ts)'],
  },
  {
    rule: 'layers',
    says: 'a unit that imports its neighbour, lazily',
    files: { 'src/stores/a/a.ts': `const b = () => import('../b/b.ts')` },
    found: ['src/stores/a/a.ts:1 stores/a may not import stores/b (../b/b.ts)'],
  },
  {
    rule: 'layers',
    says: 'common ground that imports one of its units',
    files: { 'src/stores/rules.ts': `import { b } from './b/b.ts'` },
    found: ['src/stores/rules.ts:1 stores may not import stores/b (./b/b.ts)'],
  },
  {
    rule: 'layers',
    says: 'a folder that is no layer',
    files: { 'src/misc/a.ts': '' },
    found: ['src/misc/a.ts:1 src/misc is no layer: name it in test/tidy/layers.ts'],
  },
  {
    rule: 'layers',
    says: 'a test that imports the server from the kernel',
    files: { 'src/kernel/a.test.ts': `import { serve } from '../server/http.ts'` },
    found: ['src/kernel/a.test.ts:1 kernel may not import server (../server/http.ts)'],
  },
  {
    rule: 'layers',
    says: 'imports that point down, common ground, and a test that uses the testing kit and a neighbour',
    files: {
      'src/stores/a/a.ts': `import { x } from '../../kernel/x.ts'\nimport { c } from '../rules.ts'\nimport { d } from './d.ts'`,
      'src/stores/a/a.test.ts': `import { k } from '../../testing/k.ts'\nimport { b } from '../b/b.ts'`,
      'src/index.ts': `export { p } from './presets/p.ts'`,
    },
    found: [],
  },
  {
    rule: 'targets',
    says: 'an import of a test, and one of nothing',
    files: { 'src/util/a.ts': `import { b } from './b.case.ts'\nimport { c } from './c'`, 'src/util/b.case.ts': '' },
    found: [
      'src/util/a.ts:1 shipped code imports the test file ./b.case.ts',
      'src/util/a.ts:2 ./c is no file of the project',
    ],
  },
  {
    rule: 'cycles',
    says: 'a cycle of types through three files',
    files: {
      'src/util/a.ts': `import type { B } from './b.ts'`,
      'src/util/b.ts': `export type B = import('./c.ts').C`,
      'src/util/c.ts': `export { a } from './a.ts'`,
    },
    found: ['src/util/a.ts:1 cycle: src/util/a.ts -> src/util/b.ts -> src/util/c.ts -> src/util/a.ts'],
  },
  {
    rule: 'cycles',
    says: 'two ways to one file are no cycle',
    files: {
      'src/util/a.ts': `import './b.ts'\nimport './c.ts'`,
      'src/util/b.ts': `import './c.ts'`,
      'src/util/c.ts': '',
    },
    found: [],
  },
  {
    rule: 'packages',
    says: 'a Node module in a pure layer, a package that only developers have, and an unknown one',
    files: {
      'package.json': manifest,
      'src/client/a.ts': `import { readFileSync } from 'node:fs'`,
      'src/tools/a/a.ts': `import { z } from 'zod'\nimport { x } from '@some/where/deep'`,
    },
    found: [
      'src/client/a.ts:1 a pure layer imports node:fs',
      'src/tools/a/a.ts:1 zod is not in package.json',
      'src/tools/a/a.ts:2 @some/where is not in package.json',
    ],
  },
  {
    rule: 'packages',
    says: 'declared packages, a reasoned exception, and tests with their own',
    files: {
      'package.json': manifest,
      'src/runtime/schema.ts': `const ajv = () => import('ajv')`,
      'src/tools/a/a.ts': `import 'node:fs'\nimport 'ajv'`,
      'src/kernel/a.test.ts': `import 'zod'\nimport 'node:fs'`,
    },
    found: [],
  },
  {
    rule: 'synchronousKernel',
    says: 'anything asynchronous',
    files: {
      'src/kernel/a.ts': `export const a = async () => {}\nexport type B = Promise<void>\nfor await (const c of d) e()`,
      'src/kernel/a.test.ts': `await a()`,
      'src/runtime/a.ts': `await a()`,
    },
    found: [
      'src/kernel/a.ts:1 async function in the kernel',
      'src/kernel/a.ts:2 Promise in the kernel',
      'src/kernel/a.ts:3 await in the kernel',
    ],
  },
  {
    rule: 'ambient',
    says: 'time, randomness and environment, however they are reached',
    files: {
      'src/runtime/a.ts': `Date.now()\nnew Date()\nglobalThis.setTimeout(f, 1)\nconst next = Math.random\nprocess.env['HOME']`,
      'src/tools/a/a.ts': `import { randomUUID } from 'node:crypto'\nimport { setTimeout as sleep } from 'node:timers/promises'`,
      'test/a.test.ts': `setInterval(f, 1)\nAbortSignal.timeout(5)`,
    },
    found: [
      'src/runtime/a.ts:1 Date.now: take a Clock, Ids, Random or env from the host',
      'src/runtime/a.ts:2 new Date(): take a Clock, Ids, Random or env from the host',
      'src/runtime/a.ts:3 setTimeout: take a Clock, Ids, Random or env from the host',
      'src/runtime/a.ts:4 Math.random: take a Clock, Ids, Random or env from the host',
      'src/runtime/a.ts:5 process.env: take a Clock, Ids, Random or env from the host',
      'src/tools/a/a.ts:2 node:timers/promises: take a Clock, Ids, Random or env from the host',
      'src/tools/a/a.ts:1 randomUUID: take a Clock, Ids, Random or env from the host',
      'src/tools/a/a.ts:2 setTimeout: take a Clock, Ids, Random or env from the host',
      'test/a.test.ts:1 setInterval: take a Clock, Ids, Random or env from the host',
      'test/a.test.ts:2 AbortSignal.timeout: take a Clock, Ids, Random or env from the host',
    ],
  },
  {
    rule: 'ambient',
    says: 'the host, a date of a given time, a member of the same name, and text that only speaks of it',
    files: {
      'src/host/node.ts': `Date.now()`,
      'src/testing/fake-clock.ts': `setImmediate(f)`,
      'src/cli/show.ts': `new Date(event.at).toISOString()\nfake.setTimeout(f)\n'Date.now()' // Math.random()`,
    },
    found: [],
  },
  {
    rule: 'suffixes',
    says: 'words that say nothing',
    files: {
      'src/util/text-helpers.ts': '',
      'src/runtime/a.ts': `export class SessionManager {}\nexport interface EventHandler {}`,
    },
    found: [
      'src/util/text-helpers.ts:1 text-helpers ends in a word that says nothing: name what it does',
      'src/runtime/a.ts:1 SessionManager ends in a word that says nothing: name what it does',
      'src/runtime/a.ts:1 EventHandler ends in a word that says nothing: name what it does',
    ],
  },
  {
    rule: 'words',
    says: 'words of others, in variables, parameters, members and types',
    files: {
      'src/runtime/a.ts': `const maxRounds = 1\nfunction f(conversation_id) {}\ninterface I { iteration: number }\ntype Interrupt = 1`,
    },
    found: [
      'src/runtime/a.ts:1 maxRounds: say steps, not rounds',
      'src/runtime/a.ts:2 conversation_id: say session, not conversation',
      'src/runtime/a.ts:3 iteration: say step, not iteration',
      'src/runtime/a.ts:4 Interrupt: say steer, abort or reject, not interrupt',
    ],
  },
  {
    rule: 'words',
    says: 'a use of what others named',
    files: { 'src/runtime/a.ts': `Math.round(1)\nconst interrupted = true\nbackground(1)` },
    found: [],
  },
  {
    rule: 'exportStyle',
    says: 'a star outside an index, a star in the root index, a default export',
    files: {
      'src/util/a.ts': `export * from './b.ts'`,
      'src/index.ts': `export * from './util/a.ts'`,
      'src/util/index.ts': `export * from './a.ts'`,
      'src/util/c.ts': `export default 1`,
    },
    found: [
      'src/util/a.ts:1 export * outside the index of a folder',
      'src/index.ts:1 export * outside the index of a folder',
      'src/util/c.ts:1 default export: name it',
    ],
  },
  {
    rule: 'sizes',
    says: 'a long function and a long file',
    files: { 'src/util/a.ts': `const f = () => {\n${long(74)}}`, 'src/util/b.ts': long(500) },
    found: ['src/util/a.ts:1 a function of 76 lines; at most 75', 'src/util/b.ts:1 501 lines; at most 500'],
  },
  {
    rule: 'sizes',
    says: 'comments and blank lines do not count, nor do tests',
    files: {
      'src/util/a.ts': `function f() {\n${long(73)}\n\n// why\n/* and\n\n how */\n}`,
      'src/util/b.test.ts': long(600),
    },
    found: [],
  },
  {
    rule: 'deadFiles',
    says: 'a file that only a test needs, and an entry that is missing',
    files: { ...entries, 'src/util/a.ts': '', 'src/util/a.test.ts': `import './a.ts'` },
    found: [
      'src/index.ts:1 package.json names this entry; it does not exist',
      'src/util/a.ts:1 no entry of the package needs this file',
    ],
  },
  {
    rule: 'deadFiles',
    says: 'files behind a lazy import, a type and a worker',
    files: {
      ...entries,
      'src/index.ts': `const a = () => import('./util/a.ts')\nexport type B = import('./util/b.ts').B`,
      'src/util/a.ts': `new URL('./c.js', import.meta.url)`,
      'src/util/b.ts': '',
      'src/util/c.ts': '',
    },
    found: [],
  },
  {
    rule: 'deadExports',
    says: 'an export that nobody uses, and one that only a test uses',
    files: {
      ...entries,
      'src/index.ts': `export { shown } from './util/a.ts'`,
      'src/util/a.ts': `export const shown = 1\nexport const unused = 2\nexport const tested = 3\nexport interface Idle {}`,
      'src/util/a.test.ts': `import { tested } from './a.ts'`,
    },
    found: [
      'src/util/a.ts:2 nothing shipped uses the export unused',
      'src/util/a.ts:3 nothing shipped uses the export tested',
      'src/util/a.ts:4 nothing shipped uses the export Idle',
    ],
  },
  {
    rule: 'deadExports',
    says: 'public through an index, through a rename, a type of a signature, and a tested part of its own file',
    files: {
      ...entries,
      'src/index.ts': `export { shown } from './util/index.ts'\nexport { part as piece } from './util/b.ts'`,
      'src/util/index.ts': `export * from './a.ts'`,
      'src/util/a.ts': `export interface Shape {}\nexport const half = 1\nexport const shown = (): Shape => half`,
      'src/util/b.ts': `import { c } from './c.ts'\nexport const part = c`,
      'src/util/c.ts': `export const c = 1`,
      'src/util/a.test.ts': `import { half } from './a.ts'`,
    },
    found: [],
  },
  {
    rule: 'documented',
    says: 'a public symbol without a doc comment, or with a comment that is none, or that stands elsewhere',
    files: {
      ...entries,
      'src/index.ts': `export { a, b } from './util/a.ts'\nexport type { C } from './util/a.ts'`,
      'src/util/a.ts': `/** The file. */\n\nexport const a = 1\n// Says b.\nexport function b() {}\nexport interface C {\n  /** One. */\n  readonly one: 1\n}`,
    },
    found: [
      'src/util/a.ts:3 a is public and has no doc comment',
      'src/util/a.ts:5 b is public and has no doc comment',
      'src/util/a.ts:6 C is public and has no doc comment',
    ],
  },
  {
    rule: 'documented',
    says: 'documented symbols, one of two declarations of a name, and what is not public',
    files: {
      ...entries,
      'src/index.ts': `export { a, B } from './util/a.ts'`,
      'src/util/a.ts': `/** Says a. */\nexport const a = 1\n/**\n * Says B.\n */\nexport const B = 1\nexport type B = 2\nexport const c = 3`,
    },
    found: [],
  },
  {
    rule: 'leftovers',
    says: 'a test that runs alone, notes to oneself, and a banner',
    files: {
      'src/util/a.test.ts': `it.only('a', f)\ndescribe.concurrent.only('b', f)`,
      'src/util/a.ts': `// ${'TO' + 'DO'}: later\nconst a = 1 // @ts-ignore\n// ── parts ──`,
    },
    found: [
      'src/util/a.test.ts:1 a test that runs alone',
      'src/util/a.test.ts:2 a test that runs alone',
      `src/util/a.ts:1 ${'TO' + 'DO'} in a comment`,
      'src/util/a.ts:2 @ts-ignore in a comment',
      'src/util/a.ts:3 a banner',
    ],
  },
  {
    rule: 'machinePaths',
    says: 'a folder of one machine, in any file',
    files: { 'docs/a.md': `see ${'/wo'}rk/main` },
    found: [`docs/a.md:1 ${'/wo'}rk/ is a folder of one machine`],
  },
  {
    rule: 'machinePaths',
    says: 'the same word inside an address or a longer path',
    files: { 'docs/a.md': `https://example.org${'/ho'}me/1 and src${'/wo'}rk/a.ts and ~${'/ho'}me/` },
    found: [],
  },
]

describe('each rule fails on what it forbids and passes what it allows', () => {
  it.each(SAMPLES)('$rule: $says', ({ rule, files, found }) => {
    expect(RULES[rule]!(treeOf(files)).map(showFinding)).toEqual(found)
  })

  it('every rule has a planted sample', () => {
    const planted = SAMPLES.filter(({ found }) => found.length > 0).map(({ rule }) => rule)
    expect([...new Set(planted)]).toEqual(Object.keys(RULES))
  })
})
