/** Any value that JSON can carry. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * JSON with object keys in code-unit order, so that equal values have equal text.
 * Used wherever two values are compared or hashed by content (T6, A2); never for what a model or a user reads back.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isPlainObject(inner) ? sortKeys(inner) : inner,
  ) ?? 'null'
}

function sortKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const key of Object.keys(object).toSorted()) sorted[key] = object[key]
  return sorted
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
