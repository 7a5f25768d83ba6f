/**
 * The rules of layers, names and style that a machine can check. Each is a pure function of the tree, and each is shown to fail in
 * `rules.test.ts` on a planted sample.
 */
import type { ESTree } from 'vite'
import {
  AMBIENT_EXCEPTIONS,
  IMPORT_EXCEPTIONS,
  PURE_LAYERS,
  WORD_EXCEPTIONS,
  isExcepted,
  mayImport,
  mayTestImport,
  placeOf,
} from './layers.ts'
import { boundNames, walk } from './source.ts'
import type { Source } from './source.ts'
import { exportedNames, importsOf, isTest, originOf, reachableFrom, shippedSources, targetOf } from './tree.ts'
import type { Tree } from './tree.ts'

/** One place that breaks a rule. */
export interface Finding {
  readonly path: string
  readonly line: number
  readonly text: string
}

export type Rule = (tree: Tree) => Finding[]

const FUNCTION_LINES_MAX = 75
const FILE_LINES_MAX = 500

/** A file imports from strictly lower layers or from its own unit; a test may use the testing kit and what that may use. */
export const layers: Rule = (tree) =>
  inSources(tree, 'src/', (source) => {
    const place = placeOf(source.path)
    if (place === null || place.row === -1)
      return [finding(source, 1, `src/${place?.layer} is no layer: name it in test/tidy/layers.ts`)]
    const may = isTest(source.path) ? mayTestImport : mayImport
    return source.imports.flatMap(({ from, line }) => {
      const target = targetOf(source.path, from)
      const there = target === null ? null : placeOf(target)
      return there === null || may(place, there)
        ? []
        : [finding(source, line, `${place.unit} may not import ${there.unit} (${from})`)]
    })
  })

/** Shipped code imports no test; every relative import names a file that exists, with its ending. */
export const targets: Rule = (tree) =>
  inSources(tree, '', (source) =>
    source.imports.flatMap(({ from, line }) => {
      const target = targetOf(source.path, from)
      if (target === null) return []
      if (!tree.files.has(target)) return [finding(source, line, `${from} is no file of the project`)]
      return isTest(target) && !isTest(source.path)
        ? [finding(source, line, `shipped code imports the test file ${from}`)]
        : []
    }),
  )

/** No cycles among shipped files, not even of types or lazy imports. */
export const cycles: Rule = (tree) => {
  const done = new Set<string>()
  const found: Finding[] = []
  const visit = (source: Source, trail: readonly string[]): void => {
    const start = trail.indexOf(source.path)
    if (start !== -1) found.push(finding(source, 1, `cycle: ${[...trail.slice(start), source.path].join(' -> ')}`))
    if (start !== -1 || done.has(source.path)) return
    for (const target of importsOf(tree, source)) visit(tree.sources.get(target)!, [...trail, source.path])
    done.add(source.path)
  }
  for (const source of shippedSources(tree)) visit(source, [])
  return found
}

/** Pure layers import no Node module and no package. Other shipped code imports only packages that its users have. */
export const packages: Rule = (tree) =>
  inSources(tree, '', (source) => {
    const test = isTest(source.path) || !source.path.startsWith('src/')
    const pure = !test && PURE_LAYERS.includes(placeOf(source.path)!.layer)
    return source.imports.flatMap(({ from, line }) => {
      if (targetOf(source.path, from) !== null || (pure && isExcepted(IMPORT_EXCEPTIONS, source.path, from))) return []
      if (pure) return [finding(source, line, `a pure layer imports ${from}`)]
      const name = packageOf(from)
      const known =
        name.startsWith('node:') ||
        tree.manifest.packages.has(name) ||
        (test && (name === 'turnstep' || tree.manifest.devPackages.has(name)))
      return known ? [] : [finding(source, line, `${name} is not in package.json`)]
    })
  })

/** The kernel is synchronous. */
export const synchronousKernel: Rule = (tree) =>
  inShipped(tree, 'src/kernel/', (source) => {
    const found: Finding[] = []
    walk(source.program, (node) => {
      const what = asynchronous(node)
      if (what !== null) found.push(finding(source, source.lineAt(node.start), `${what} in the kernel`))
    })
    return found
  })

function asynchronous(node: ESTree.Node): string | null {
  if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)) return 'await'
  if ('async' in node && node.async === true) return 'async function'
  return node.type === 'Identifier' && /^(Promise|PromiseLike|AsyncIterable|queueMicrotask)$/.test(node.name)
    ? node.name
    : null
}

const AMBIENT_NAMES = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'randomUUID',
  'randomBytes',
  'randomInt',
  'getRandomValues',
])
const AMBIENT_MEMBERS = new Set([
  'Date.now',
  'performance.now',
  'Math.random',
  'process.env',
  'process.hrtime',
  'crypto.randomUUID',
  'crypto.getRandomValues',
  'AbortSignal.timeout',
])
const AMBIENT_MODULES = new Set(['node:timers', 'node:timers/promises'])

/** Time, randomness and environment come through ports; tests take them from there too. */
export const ambient: Rule = (tree) =>
  inSources(tree, '', (source) => {
    if (!/^(src|test)\//.test(source.path)) return []
    const found: Finding[] = []
    const report = (what: string, line: number): void => {
      if (!isExcepted(AMBIENT_EXCEPTIONS, source.path, what))
        found.push(finding(source, line, `${what}: take a Clock, Ids, Random or env from the host`))
    }
    for (const { from, line } of source.imports) if (AMBIENT_MODULES.has(from)) report(from, line)
    walk(source.program, (node, parent, key) => {
      const what = ambientUse(node, parent, key)
      if (what !== null) report(what, source.lineAt(node.start))
    })
    return found
  })

function ambientUse(node: ESTree.Node, parent: ESTree.Node | null, key: string): string | null {
  if (node.type === 'MemberExpression') {
    const path = memberPath(node).replace(/^globalThis\./, '')
    return AMBIENT_MEMBERS.has(path) || AMBIENT_NAMES.has(path) ? path : null
  }
  if (node.type === 'NewExpression')
    return isNamed(node.callee, 'Date') && node.arguments.length === 0 ? 'new Date()' : null
  if (node.type === 'CallExpression' && isNamed(node.callee, 'Date')) return 'Date()'
  const isMember = parent?.type === 'MemberExpression' && key === 'property' && !parent.computed
  const isName = isMember || key === 'key' || (parent?.type === 'ImportSpecifier' && key === 'local')
  return node.type === 'Identifier' && AMBIENT_NAMES.has(node.name) && !isName ? node.name : null
}

/** `a.b.c` of nested member expressions; other parts are left empty. */
function memberPath(node: ESTree.Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression') return ''
  const property =
    node.property.type === 'Identifier'
      ? node.property.name
      : node.property.type === 'Literal'
        ? String(node.property.value)
        : ''
  return `${memberPath(node.object)}.${property}`
}

const BANNED_SUFFIXES = /^(manager|handler|processor|helper|service)s?$/

/** Files, classes, types and exported functions do not end in a word that says nothing. */
export const suffixes: Rule = (tree) =>
  inSources(tree, 'src/', (source) => {
    const file = source.path
      .split('/')
      .at(-1)!
      .replace(/(\.(prop|test|case))*\.ts$/, '')
    const names = [file, ...source.declarations.filter(({ kind }) => kind !== 'const').map(({ name }) => name)]
    return names
      .filter(
        (name) => BANNED_SUFFIXES.test(wordsOf(name).at(-1) ?? '') && !isExcepted(WORD_EXCEPTIONS, source.path, name),
      )
      .map((name) => finding(source, 1, `${name} ends in a word that says nothing: name what it does`))
  })

/** Words of others, and the word of ours that is meant. */
const BANNED_WORDS: ReadonlyMap<string, string> = new Map([
  ['conversation', 'session'],
  ['conversations', 'sessions'],
  ['iteration', 'step'],
  ['iterations', 'steps'],
  ['round', 'step'],
  ['rounds', 'steps'],
  ['interrupt', 'steer, abort or reject'],
  ['interrupts', 'steers, aborts or rejects'],
])

/** What we name is named by the words of the glossary. */
export const words: Rule = (tree) =>
  inSources(tree, 'src/', (source) => {
    const found: Finding[] = []
    walk(source.program, (node, parent, key) => {
      for (const name of declaredNames(node, parent, key)) {
        const banned = wordsOf(name).find((word) => BANNED_WORDS.has(word))
        if (banned === undefined || isExcepted(WORD_EXCEPTIONS, source.path, name)) continue
        found.push(
          finding(source, source.lineAt(node.start), `${name}: say ${BANNED_WORDS.get(banned)}, not ${banned}`),
        )
      }
    })
    return found
  })

/** The names that a node itself declares: variables, parameters, functions, types, members of classes and types. */
function declaredNames(node: ESTree.Node, parent: ESTree.Node | null, key: string): string[] {
  if (node.type === 'VariableDeclarator') return boundNames(node.id)
  if (key === 'params' && parent !== null && 'params' in parent) return boundNames(node)
  const named = node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration' ? node.id : null
  if (named !== null) return [named.name]
  if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration') return [node.id.name]
  const member =
    node.type === 'TSPropertySignature' ||
    node.type === 'TSMethodSignature' ||
    node.type === 'PropertyDefinition' ||
    node.type === 'MethodDefinition'
  return member && (node.key.type === 'Identifier' || node.key.type === 'PrivateIdentifier') ? [node.key.name] : []
}

/** Named exports; `export *` only in an index of a folder, and never in the root index, which names every symbol. */
export const exportStyle: Rule = (tree) =>
  inShipped(tree, 'src/', (source) =>
    source.exports.flatMap(({ name, line }) => {
      const mayStar = source.path.endsWith('/index.ts') && source.path !== 'src/index.ts'
      if (name === '*' && !mayStar) return [finding(source, line, 'export * outside the index of a folder')]
      return name === 'default' ? [finding(source, line, 'default export: name it')] : []
    }),
  )

/** The longest function and the longest file, counted in lines that hold code. */
export const sizes: Rule = (tree) =>
  inShipped(tree, 'src/', (source) => {
    const isCode = codeLines(source)
    const lines = source.text.split('\n').length
    const found = lines > FILE_LINES_MAX ? [finding(source, 1, `${lines} lines; at most ${FILE_LINES_MAX}`)] : []
    walk(source.program, (node) => {
      if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return
      const first = source.lineAt(node.start)
      const length = isCode.slice(first - 1, source.lineAt(node.end - 1)).filter(Boolean).length
      if (length > FUNCTION_LINES_MAX)
        found.push(finding(source, first, `a function of ${length} lines; at most ${FUNCTION_LINES_MAX}`))
    })
    return found
  })

/** For each line, whether it holds something other than a comment. */
function codeLines(source: Source): boolean[] {
  let text = source.text
  for (const { start, end } of source.comments)
    text = text.slice(0, start) + text.slice(start, end).replace(/[^\n]/g, ' ') + text.slice(end)
  return text.split('\n').map((line) => line.trim() !== '')
}

/** Every shipped file is needed by an entry of the package or by its command. */
export const deadFiles: Rule = (tree) => {
  const entries = [...tree.manifest.entries.values(), ...tree.manifest.commands]
  const missing = entries
    .filter((path) => !tree.sources.has(path))
    .map((path) => ({ path, line: 1, text: 'package.json names this entry; it does not exist' }))
  const alive = reachableFrom(tree, entries)
  const dead = shippedSources(tree).filter(({ path }) => !alive.has(path))
  return [...missing, ...dead.map((source) => finding(source, 1, 'no entry of the package needs this file'))]
}

/**
 * Every export of a shipped file is public, or imported by shipped code. What only tests import must be used in its own file too,
 * and a type may be exported because an exported signature names it.
 */
export const deadExports: Rule = (tree) => {
  const shipped = new Set<string>()
  const tested = new Set<string>()
  for (const entry of [...tree.manifest.entries.values(), ...tree.manifest.commands])
    markUses(tree, entry, ['*'], shipped)
  for (const source of tree.sources.values()) {
    for (const { from, names } of source.imports) {
      const target = targetOf(source.path, from)
      if (target !== null) markUses(tree, target, names, isTest(source.path) ? tested : shipped)
    }
  }
  return inShipped(tree, 'src/', (source) =>
    source.exports.flatMap(({ name, local, from, line }) => {
      const key = `${source.path}#${name}`
      if (name === '*' || shipped.has(key)) return []
      const kinds = source.declarations.filter((declaration) => declaration.name === local).map(({ kind }) => kind)
      const isType = kinds.length > 0 && kinds.every((kind) => kind === 'interface' || kind === 'type')
      const isKept = from === null && (isType || tested.has(key)) && isUsedInside(source, local)
      return isKept ? [] : [finding(source, line, `nothing shipped uses the export ${name}`)]
    }),
  )
}

function markUses(tree: Tree, path: string, names: readonly string[], used: Set<string>): void {
  for (const name of names.includes('*') ? exportedNames(tree, path) : names) {
    for (const step of originOf(tree, path, name)?.trail ?? []) used.add(step)
  }
}

function isUsedInside(source: Source, name: string): boolean {
  let uses = 0
  walk(source.program, (node, parent, key) => {
    const declares = key === 'id' || parent?.type === 'ExportSpecifier'
    if (node.type === 'Identifier' && node.name === name && !declares) uses++
  })
  return uses > 0
}

/** Every public symbol has a doc comment directly before its declaration. */
export const documented: Rule = (tree) => {
  const origins = [...tree.manifest.entries.values()].flatMap((entry) =>
    exportedNames(tree, entry).flatMap((name) => originOf(tree, entry, name) ?? []),
  )
  const bare = new Map<string, Finding>()
  for (const { path, name } of origins) {
    const source = tree.sources.get(path)!
    const statements = source.program.body.filter((statement) => declaredIn(statement).includes(name))
    if (statements.some((statement) => hasDoc(source, statement))) continue
    const line = source.lineAt(statements[0]?.start ?? 0)
    bare.set(`${path}#${name}`, finding(source, line, `${name} is public and has no doc comment`))
  }
  return [...bare.values()]
}

/** The names that a statement at the top of a file declares. */
function declaredIn(statement: ESTree.Node): string[] {
  const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
  if (declared?.type === 'VariableDeclaration') return declared.declarations.flatMap(({ id }) => boundNames(id))
  return declared !== null && 'id' in declared && declared.id?.type === 'Identifier' ? [declared.id.name] : []
}

function hasDoc(source: Source, { start }: ESTree.Node): boolean {
  return source.comments.some(
    ({ type, value, end }) =>
      type === 'Block' && value.startsWith('*') && /^[ \t]*\n[ \t]*$/.test(source.text.slice(end, start)),
  )
}

/** Nothing left behind: no test that runs alone, no note to oneself, no silenced type error, no banner in shipped code. */
export const leftovers: Rule = (tree) =>
  inSources(tree, '', (source) => {
    const found: Finding[] = []
    walk(source.program, (node) => {
      if (node.type === 'MemberExpression' && /^(it|test|describe|suite)(\.\w+)*\.only$/.test(memberPath(node)))
        found.push(finding(source, source.lineAt(node.start), 'a test that runs alone'))
    })
    if (isTest(source.path)) return found
    for (const { value, start } of source.comments) {
      const note = /\b(TODO|FIXME|XXX)\b|@ts-(ignore|expect-error|nocheck)/.exec(value)
      if (note !== null) found.push(finding(source, source.lineAt(start), `${note[0]} in a comment`))
      if (/^\W*[─=*-]{2,} /.test(value)) found.push(finding(source, source.lineAt(start), 'a banner'))
    }
    return found
  })

const MACHINE_PATH = new RegExp(`(?<![\\w.~:/-])/(${['work', 'home', 'root'].join('|')})/`)

/** No file names a folder of somebody's machine. */
export const machinePaths: Rule = (tree) =>
  [...tree.files].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const found = MACHINE_PATH.exec(line)
      return found === null ? [] : [{ path, line: index + 1, text: `${found[0]} is a folder of one machine` }]
    }),
  )

export const RULES: Readonly<Record<string, Rule>> = {
  layers,
  targets,
  cycles,
  packages,
  synchronousKernel,
  ambient,
  suffixes,
  words,
  exportStyle,
  sizes,
  deadFiles,
  deadExports,
  documented,
  leftovers,
  machinePaths,
}

export function showFinding({ path, line, text }: Finding): string {
  return `${path}:${line} ${text}`
}

function inSources(tree: Tree, under: string, check: (source: Source) => Finding[]): Finding[] {
  return [...tree.sources.values()].filter(({ path }) => path.startsWith(under)).flatMap(check)
}

function inShipped(tree: Tree, under: string, check: (source: Source) => Finding[]): Finding[] {
  return shippedSources(tree)
    .filter(({ path }) => path.startsWith(under))
    .flatMap(check)
}

function finding(source: Source, line: number, text: string): Finding {
  return { path: source.path, line, text }
}

function isNamed(node: ESTree.Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name
}

/** `@scope/name/sub` is of the package `@scope/name`. */
function packageOf(from: string): string {
  return from.startsWith('node:') ? from : from.split('/', from.startsWith('@') ? 2 : 1).join('/')
}

/** `ScriptedModel`, `scripted-model` and `scripted_model` are `scripted`, `model`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
}
