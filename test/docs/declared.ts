/** What a source declares, read from its syntax tree: the members of an interface, the variants of a union. Pure functions. */
import type { ESTree } from 'vite'
import { parseSource, walk } from '../tidy/source.ts'

/** A variant of a union of object types: its value of `tag`, and its other properties, `?` behind the optional ones. */
export interface Variant {
  readonly tag: string
  readonly fields: readonly string[]
}

/** The members of an interface, `?` behind the optional ones. Throws if the file declares no such interface. */
export function membersOf(text: string, name: string): string[] {
  const found = declarationOf(text, name)
  if (found.type !== 'TSInterfaceDeclaration') throw new Error(`${name} is no interface`)
  return found.body.body.flatMap(fieldOf)
}

/** The variants of a union of object types. A variant whose tag is itself a union of texts counts once for each. */
export function variantsOf(text: string, name: string, tag = 'kind'): Variant[] {
  return unionOf(text, name).flatMap((type) => {
    if (type.type !== 'TSTypeLiteral') return []
    const fields = type.members.flatMap(fieldOf).filter((field) => field !== tag)
    return tagsOf(type, tag).map((value) => ({ tag: value, fields }))
  })
}

/** The texts of a union of texts. */
export function textsOf(text: string, name: string): string[] {
  return unionOf(text, name).flatMap(literalsOf)
}

function declarationOf(text: string, name: string): ESTree.TSInterfaceDeclaration | ESTree.TSTypeAliasDeclaration {
  let found: ESTree.TSInterfaceDeclaration | ESTree.TSTypeAliasDeclaration | null = null
  walk(parseSource('declared.ts', text).program, (node) => {
    const isDeclaration = node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration'
    if (isDeclaration && node.id.name === name) found = node
  })
  if (found === null) throw new Error(`the source declares no ${name}`)
  return found
}

function unionOf(text: string, name: string): readonly ESTree.TSType[] {
  const found = declarationOf(text, name)
  if (found.type !== 'TSTypeAliasDeclaration') throw new Error(`${name} is no type`)
  return found.typeAnnotation.type === 'TSUnionType' ? found.typeAnnotation.types : [found.typeAnnotation]
}

function fieldOf(member: ESTree.TSSignature): string[] {
  if (member.type !== 'TSPropertySignature' && member.type !== 'TSMethodSignature') return []
  return member.key.type === 'Identifier' ? [member.optional ? `${member.key.name}?` : member.key.name] : []
}

function tagsOf(type: ESTree.TSTypeLiteral, tag: string): string[] {
  for (const member of type.members) {
    if (member.type !== 'TSPropertySignature' || fieldOf(member)[0] !== tag) continue
    const value = member.typeAnnotation?.typeAnnotation
    if (value !== undefined) return value.type === 'TSUnionType' ? value.types.flatMap(literalsOf) : literalsOf(value)
  }
  return []
}

function literalsOf(type: ESTree.TSType): string[] {
  if (type.type !== 'TSLiteralType' || type.literal.type !== 'Literal') return []
  return typeof type.literal.value === 'string' ? [type.literal.value] : []
}
