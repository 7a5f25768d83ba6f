/** The doc comments of declared types, by name: of a type, of its fields, of the members of a union. Read from the syntax tree. */
import type { ESTree } from 'vite'
import { parseSource, walk, type Source } from '../tidy/source.ts'

/** What a source says of `Origin`, of `Origin.name`, of `CallOutcome:timeout` and of `CallOutcome:timeout.afterMs`. */
export type Comments = ReadonlyMap<string, string>

/** Reads the comments of several sources. `texts`: by path. */
export function readComments(texts: Readonly<Record<string, string>>): Comments {
  const sources = Object.entries(texts).map(([path, text]) => parseSource(path, text))
  const found = new Map<string, string>()
  for (const source of sources) {
    walk(source.program, (node, parent) => {
      if (node.type === 'TSInterfaceDeclaration') {
        note(found, node.id.name, commentOf(source, parent ?? node))
        noteFields(found, source, node.id.name, node.body.body)
      }
      if (node.type === 'TSTypeAliasDeclaration') {
        note(found, node.id.name, commentOf(source, parent ?? node))
        noteUnion(found, source, node)
      }
    })
  }
  return found
}

function note(found: Map<string, string>, name: string, comment: string | null): void {
  if (comment !== null) found.set(name, comment)
}

function noteUnion(found: Map<string, string>, source: Source, { id, typeAnnotation }: ESTree.TSTypeAliasDeclaration) {
  const members = typeAnnotation.type === 'TSUnionType' ? typeAnnotation.types : [typeAnnotation]
  for (const member of members) {
    if (member.type !== 'TSTypeLiteral') continue
    for (const tag of tagsOf(member)) {
      note(found, `${id.name}:${tag}`, commentOf(source, member))
      noteFields(found, source, `${id.name}:${tag}`, member.members)
    }
  }
}

function noteFields(found: Map<string, string>, source: Source, of: string, members: readonly ESTree.TSSignature[]) {
  for (const member of members)
    if (member.type === 'TSPropertySignature' && member.key.type === 'Identifier')
      note(found, `${of}.${member.key.name}`, commentOf(source, member))
}

/** The texts of the first property: that is where our unions have their tag. */
function tagsOf({ members: [first] }: ESTree.TSTypeLiteral): string[] {
  const type = first?.type === 'TSPropertySignature' ? first.typeAnnotation?.typeAnnotation : undefined
  const types = type?.type === 'TSUnionType' ? type.types : [type]
  return types.flatMap((one) =>
    one?.type === 'TSLiteralType' && one.literal.type === 'Literal' ? [String(one.literal.value)] : [],
  )
}

/** The doc comment directly before a node, as one line. */
function commentOf({ comments, text }: Source, { start }: ESTree.Node): string | null {
  const comment = comments.findLast(({ type, value, end }) => type === 'Block' && value.startsWith('*') && end <= start)
  if (comment === undefined || !/^[\s|]*$/.test(text.slice(comment.end, start))) return null
  return comment.value
    .replaceAll(/^\s*\*+/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
