/** JSON for people: what fits in a line stands in one. */

const WIDTH = 120

export function printJson(value: unknown): string {
  return `${print(value, '', 0)}\n`
}

/** `before`: how many columns are taken in the line already. */
function print(value: unknown, indent: string, before: number): string {
  const flat = oneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + before + flat.length <= WIDTH) return flat
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const items = Object.entries(value).flatMap(([key, item]) => {
    if (item === undefined) return []
    const name = isList ? '' : `${JSON.stringify(key)}: `
    return [`${inner}${name}${print(item, inner, name.length + 1)}`]
  })
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  return `${open}\n${items.join(',\n')}\n${indent}${close}`
}

function oneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  const fields = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : [`${JSON.stringify(key)}: ${oneLine(item)}`],
  )
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}
