/** One file of the project as the rules look at it: its text, its syntax tree, what it imports and what it exports. */
import { parseSync } from 'vite'
import type { ESTree, ParseResult } from 'vite'

/** A use of another module: by an import, a re-export, a lazy import, an import of a type, or the URL of a worker. */
export interface Import {
  /** As written: `./json.ts`, `node:fs`, `ajv`. */
  readonly from: string
  /** Exported names that are used; `*` is all of them. */
  readonly names: readonly string[]
  readonly line: number
}

/** A name that the file exports. */
export interface Export {
  /** `*` for `export * from`. */
  readonly name: string
  /** The name inside this file, or inside `from`. */
  readonly local: string
  /** Where a re-export takes it from. */
  readonly from: string | null
  readonly line: number
}

/** A declaration at the top of a file. */
export interface Declaration {
  readonly name: string
  readonly kind: 'function' | 'class' | 'const' | 'interface' | 'type'
}

export interface Source {
  /** From the root of the project, with slashes. */
  readonly path: string
  readonly text: string
  readonly program: ESTree.Program
  readonly comments: ParseResult['comments']
  readonly imports: readonly Import[]
  readonly exports: readonly Export[]
  readonly declarations: readonly Declaration[]
  /** The line, from 1, of an offset into the text. */
  lineAt(offset: number): number
}

/** Reads a TypeScript file. Throws if it does not parse. */
export function parseSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`)
  const lineAt = lineCounter(text)
  return {
    path,
    text,
    program,
    comments,
    imports: [...staticImports(module, lineAt), ...otherImports(program, lineAt)],
    exports: exportsOf(module, lineAt),
    declarations: program.body.flatMap(declarationsOf),
    lineAt,
  }
}

/** Calls `enter` for every node, parents first, with the key under which its parent holds it. */
export function walk(
  root: ESTree.Node,
  enter: (node: ESTree.Node, parent: ESTree.Node | null, key: string) => void,
): void {
  const visit = (node: ESTree.Node, parent: ESTree.Node | null, at: string): void => {
    enter(node, parent, at)
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, node, key)
    }
  }
  visit(root, null, '')
}

function isNode(value: unknown): value is ESTree.Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return (offset) => {
    const after = starts.findIndex((start) => start > offset)
    return after === -1 ? starts.length : after
  }
}

function staticImports(module: ParseResult['module'], lineAt: (offset: number) => number): Import[] {
  const imported = module.staticImports.map(({ moduleRequest, entries, start }) => ({
    from: moduleRequest.value,
    names: entries.map(({ importName }) =>
      importName.kind === 'Name' ? importName.name! : importName.kind === 'Default' ? 'default' : '*',
    ),
    line: lineAt(start),
  }))
  const passedOn = module.staticExports.flatMap(({ entries, start }) =>
    entries.flatMap(({ moduleRequest }) =>
      moduleRequest === null ? [] : [{ from: moduleRequest.value, names: [], line: lineAt(start) }],
    ),
  )
  return [...imported, ...passedOn]
}

/** Lazy imports, types named in place, and workers started by URL. */
function otherImports(program: ESTree.Program, lineAt: (offset: number) => number): Import[] {
  const found: Import[] = []
  walk(program, (node) => {
    const target = moduleNamedBy(node)
    if (target !== null) found.push({ from: target, names: ['*'], line: lineAt(node.start) })
  })
  return found
}

function moduleNamedBy(node: ESTree.Node): string | null {
  if (node.type === 'TSImportType') return node.source.value
  if (node.type === 'ImportExpression') return stringOf(node.source)
  if (node.type !== 'NewExpression' || node.callee.type !== 'Identifier' || node.callee.name !== 'URL') return null
  const [target, base] = node.arguments
  const relative = target === undefined ? null : stringOf(target)
  return base?.type === 'MemberExpression' && relative !== null && /\.[jt]s$/.test(relative) ? relative : null
}

function stringOf(node: ESTree.Node): string | null {
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : null
}

function exportsOf(module: ParseResult['module'], lineAt: (offset: number) => number): Export[] {
  return module.staticExports.flatMap(({ entries }) =>
    entries.map((entry) => ({
      name:
        entry.exportName.kind === 'Name'
          ? entry.exportName.name!
          : entry.exportName.kind === 'Default'
            ? 'default'
            : '*',
      local: entry.importName.name ?? entry.localName.name ?? '*',
      from: entry.moduleRequest?.value ?? null,
      line: lineAt(entry.start),
    })),
  )
}

function declarationsOf(statement: ESTree.Node): Declaration[] {
  switch (statement.type) {
    case 'ExportNamedDeclaration':
      return statement.declaration === null ? [] : declarationsOf(statement.declaration)
    case 'FunctionDeclaration':
    case 'TSDeclareFunction':
      return statement.id === null ? [] : [{ name: statement.id.name, kind: 'function' }]
    case 'ClassDeclaration':
      return statement.id === null ? [] : [{ name: statement.id.name, kind: 'class' }]
    case 'TSInterfaceDeclaration':
      return [{ name: statement.id.name, kind: 'interface' }]
    case 'TSTypeAliasDeclaration':
      return [{ name: statement.id.name, kind: 'type' }]
    case 'VariableDeclaration':
      return statement.declarations.flatMap(({ id }) =>
        boundNames(id).map((name) => ({ name, kind: 'const' as const })),
      )
    default:
      return []
  }
}

/** The names that a pattern binds. */
export function boundNames(pattern: ESTree.Node): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        boundNames(property.type === 'Property' ? property.value : property.argument),
      )
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : boundNames(element)))
    case 'AssignmentPattern':
      return boundNames(pattern.left)
    case 'RestElement':
      return boundNames(pattern.argument)
    default:
      return []
  }
}
