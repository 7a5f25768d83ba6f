/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * JSON with object keys in code-unit order, so that equal values have equal text.
 * Used wherever two values are compared or hashed by content (T6, A2); never for what a model or a user reads back.
 * Values that JSON does not know are treated as `JSON.stringify` treats them.
 */
export function canonicalJson(value: unknown): string {
  if (isFlatInOrder(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  if (!isPlainObject(value) || typeof value['toJSON'] === 'function') return JSON.stringify(value) ?? 'null'
  let text = ''
  for (const key of Object.keys(value).sort()) {
    const item = value[key]
    if (item === undefined || typeof item === 'function') continue
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(item)}`
  }
  return `{${text}}`
}

/** Most arguments: a few plain values, in order already. */
function isFlatInOrder(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  let before: string | null = null
  for (const key of Object.keys(value)) {
    const item = value[key]
    // Whole numbers as keys come first, whatever the order of their text.
    if ((before !== null && key <= before) || key < ':' || !(typeof item === 'string' || typeof item === 'number'))
      return false
    before = key
  }
  return true
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
