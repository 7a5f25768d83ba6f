/** Looking into JSON that somebody else wrote. */
import { isPlainObject } from '../../util/json.ts'

/** A JSON object of which nothing is known yet. */
export type JsonObject = { readonly [key: string]: unknown }

/** The value as a list; a list of nothing where it is none. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** The objects in a list. */
export const objectsOf = (value: unknown): readonly JsonObject[] => listOf(value).filter(isPlainObject)

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
