/** The project as the rules look at it: every text file, the parsed ones, the entries, and who imports whom. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSource } from './source.ts'
import type { Declaration, Source } from './source.ts'

export interface Tree {
  /** Text by path; paths from the root of the project, with slashes. */
  readonly files: ReadonlyMap<string, string>
  /** The TypeScript among them. */
  readonly sources: ReadonlyMap<string, Source>
  readonly manifest: Manifest
}

/** What the rules need of `package.json`. */
export interface Manifest {
  /** Entry of the package by its subpath, as a path in `src`: `.` is `src/index.ts`. */
  readonly entries: ReadonlyMap<string, string>
  /** Commands, as paths in `src`. */
  readonly commands: readonly string[]
  /** Packages that a user has: dependencies, optional ones and peers. */
  readonly packages: ReadonlySet<string>
  readonly devPackages: ReadonlySet<string>
}

/** Makes a tree of texts by path. */
export function treeOf(files: Readonly<Record<string, string>>): Tree {
  const texts = new Map(Object.entries(files))
  const sources = new Map<string, Source>()
  for (const [path, text] of texts) if (path.endsWith('.ts')) sources.set(path, parseSource(path, text))
  return { files: texts, sources, manifest: readManifest(texts.get('package.json') ?? '{}') }
}

/** Reads the project under `root`: whatever git tracks, and what is new and not ignored. */
export function readTree(root: string): Tree {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  const files: Record<string, string> = {}
  for (const path of new Set(listed.split('\0'))) {
    const at = join(root, path)
    if (path === '' || !existsSync(at) || !statSync(at).isFile()) continue
    const text = readFileSync(at, 'utf8')
    if (!text.includes('\0')) files[path] = text
  }
  return treeOf(files)
}

/** A file that only tests load. */
export function isTest(path: string): boolean {
  return /\.(test|case)\.ts$/.test(path) || /^(test|examples|bench)\//.test(path)
}

/** The sources that are shipped, with what they import of each other. */
export function shippedSources(tree: Tree): Source[] {
  return [...tree.sources.values()].filter(({ path }) => path.startsWith('src/') && !isTest(path))
}

/** The file that `from`, written in `path`, means; null for a package. */
export function targetOf(path: string, from: string): string | null {
  return from.startsWith('.') ? posix.join(posix.dirname(path), from).replace(/\.js$/, '.ts') : null
}

/** The files of the tree that a source imports. */
export function importsOf(tree: Tree, source: Source): string[] {
  const targets = source.imports.map(({ from }) => targetOf(source.path, from))
  return [...new Set(targets)].filter((target) => target !== null).filter((target) => tree.sources.has(target))
}

/** All files that `starts` need, themselves included. */
export function reachableFrom(tree: Tree, starts: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const waiting = starts.filter((path) => tree.sources.has(path))
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    waiting.push(...importsOf(tree, tree.sources.get(path)!))
  }
  return seen
}

/** Where an exported name is declared, through any number of re-exports; with the files passed on the way. */
export function originOf(tree: Tree, path: string, name: string): Origin | null {
  return follow(tree, path, name, [])
}

export interface Origin {
  readonly path: string
  readonly name: string
  readonly kinds: readonly Declaration['kind'][]
  /** `path#name` of each export on the way, this one last. */
  readonly trail: readonly string[]
}

/** What a module exports, by name, `export *` resolved. */
export function exportedNames(tree: Tree, path: string): string[] {
  const source = tree.sources.get(path)
  if (source === undefined) return []
  return source.exports.flatMap(({ name, from }) => {
    const target = from === null ? null : targetOf(path, from)
    return name !== '*' ? [name] : target === null ? [] : exportedNames(tree, target)
  })
}

function follow(tree: Tree, path: string, name: string, trail: readonly string[]): Origin | null {
  const here = `${path}#${name}`
  const source = tree.sources.get(path)
  if (source === undefined || trail.includes(here)) return null
  const passed = [...trail, here]
  for (const exported of source.exports) {
    if (exported.name !== name && exported.name !== '*') continue
    const target = exported.from === null ? null : targetOf(path, exported.from)
    const found =
      target === null
        ? declared(tree, source, exported.local, passed)
        : follow(tree, target, exported.name === '*' ? name : exported.local, passed)
    if (found !== null) return found
  }
  return null
}

/** A local name is declared here, or was imported and is passed on. */
function declared(tree: Tree, source: Source, local: string, trail: readonly string[]): Origin | null {
  const kinds = source.declarations.filter(({ name }) => name === local).map(({ kind }) => kind)
  if (kinds.length > 0) return { path: source.path, name: local, kinds: [...new Set(kinds)], trail }
  for (const { from, names } of source.imports) {
    const target = targetOf(source.path, from)
    if (target !== null && names.includes(local)) return follow(tree, target, local, trail)
  }
  return null
}

function readManifest(text: string): Manifest {
  const json = JSON.parse(text) as {
    readonly exports?: Record<string, { readonly default?: string }>
    readonly bin?: Record<string, string>
    readonly dependencies?: object
    readonly optionalDependencies?: object
    readonly peerDependencies?: object
    readonly devDependencies?: object
  }
  const built = Object.entries(json.exports ?? {}).filter(([, target]) => target.default !== undefined)
  return {
    entries: new Map(built.map(([subpath, target]) => [subpath, sourceOf(target.default!)])),
    commands: Object.values(json.bin ?? {}).map(sourceOf),
    packages: new Set(
      [json.dependencies, json.optionalDependencies, json.peerDependencies].flatMap((group) =>
        Object.keys(group ?? {}),
      ),
    ),
    devPackages: new Set(Object.keys(json.devDependencies ?? {})),
  }
}

/** `./dist/a.js` is built from `src/a.ts`. */
function sourceOf(built: string): string {
  return built.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
}
