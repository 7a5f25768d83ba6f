/**
 * Shapes of values that come from outside, as data: `shape-check.ts` checks values by them, and the schemas in `spec/` are written
 * from them. A shape carries the type that it stands for, and the tables of fields and variants have to name every member of it: neither
 * can change alone.
 */
import type { Brand } from '../util/brand.ts'
import type { Json } from '../util/json.ts'

/** A shape, for whoever reads it. */
export type Form =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly wanted?: string }
  | { readonly kind: 'flag' }
  | {
      readonly kind: 'number'
      readonly isWhole: boolean
      readonly min: number
      readonly max?: number
      readonly wanted: string
    }
  /** Whatever JSON can carry. */
  | { readonly kind: 'json' }
  | { readonly kind: 'json-object' }
  | { readonly kind: 'one-of'; readonly members: readonly string[] }
  | { readonly kind: 'or-null'; readonly form: Form }
  | { readonly kind: 'list'; readonly item: Form }
  /** An object with these fields. Others are let be: a newer minor version may have added them. */
  | { readonly kind: 'record'; readonly fields: readonly Field[] }
  /** An object whose field `tag` says which of these it is; another one is refused. */
  | { readonly kind: 'union'; readonly tag: string; readonly variants: ReadonlyMap<string, readonly Field[]> }
  /** A shape that has the name of its type. */
  | { readonly kind: 'named'; readonly name: string; readonly form: Form }

export interface Field {
  readonly name: string
  readonly form: Form
  /** It may be left out. Null is not that. */
  readonly isOptional: boolean
}

declare const OF: unique symbol

/** The shape of a `T`. A shape of anything wider or narrower is not one. */
export type Shape<T> = Form & { readonly [OF]?: (value: T) => T }

/** A field that may be left out. */
export interface Optional<T> {
  readonly optional: Shape<T>
}

/** A shape for every field of `T`, by name: optional where the field is. A field that is missing here is a type error. */
export type Fields<T> = {
  readonly [Key in keyof T]-?: object extends Pick<T, Key>
    ? Optional<Plain<Exclude<T[Key], undefined>>>
    : Shape<Plain<T[Key]>>
}

/** Fields for every member of a union, by its tag. */
export type Variants<T extends Readonly<Record<Tag, string>>, Tag extends string> = {
  readonly [Kind in T[Tag]]: Fields<Omit<Extract<T, Readonly<Record<Tag, Kind>>>, Tag>>
}

/** A value as JSON has it: ids are texts there. */
type Plain<T> = [Json] extends [T]
  ? T
  : T extends Brand<string, string>
    ? string
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T

export const text: Shape<string> = { kind: 'text' }

/** A text that has this form. */
export function textLike(pattern: RegExp, wanted: string): Shape<string> {
  return { kind: 'text', pattern, wanted }
}

export const flag: Shape<boolean> = { kind: 'flag' }

const whole = { kind: 'number', isWhole: true, max: Number.MAX_SAFE_INTEGER } as const

export const count: Shape<number> = { ...whole, min: 0, wanted: 'a whole number from 0 up' }

/** A place in a row, or a version. */
export const ordinal: Shape<number> = { ...whole, min: 1, wanted: 'a whole number from 1 up' }

export const amount: Shape<number> = { kind: 'number', isWhole: false, min: 0, wanted: 'a number from 0 up' }

/** The last millisecond that a `Date` can hold. */
const TIME_MAX = 8.64e15

/** Milliseconds since the epoch. */
export const time: Shape<number> = { ...amount, max: TIME_MAX, wanted: 'milliseconds since the epoch' }

export const wholeTime: Shape<number> = { ...time, isWhole: true, wanted: 'whole milliseconds since the epoch' }

export const json: Shape<Json> = { kind: 'json' }

export const jsonObject: Shape<{ readonly [key: string]: Json }> = { kind: 'json-object' }

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape }
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return { kind: 'or-null', form: shape }
}

/** One of these texts; the table has to name every member of `T`. */
export function oneOf<T extends string>(members: Readonly<Record<T, true>>): Shape<T> {
  return { kind: 'one-of', members: Object.keys(members) }
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return { kind: 'list', item }
}

export function record<T>(fields: Fields<T>): Shape<T> {
  return { kind: 'record', fields: fieldsOf(fields) }
}

export function union<T extends Readonly<Record<Tag, string>>, Tag extends string>(
  tag: Tag,
  variants: Variants<T, Tag>,
): Shape<T> {
  const kinds = Object.entries<Fields<unknown>>(variants).map(([kind, fields]) => [kind, fieldsOf(fields)] as const)
  return { kind: 'union', tag, variants: new Map(kinds) }
}

/** The same shape under the name of its type. */
export function named<T>(name: string, shape: Shape<T>): Shape<T> {
  return { kind: 'named', name, form: shape }
}

function fieldsOf(fields: object): readonly Field[] {
  return Object.entries(fields as Readonly<Record<string, Form | Optional<never>>>).map(([name, given]) =>
    'optional' in given ? { name, form: given.optional, isOptional: true } : { name, form: given, isOptional: false },
  )
}
