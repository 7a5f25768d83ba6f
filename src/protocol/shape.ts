/** Checks of values that came from outside, by tables. A check answers with what is wrong and where, so that the message can name it. */
import { isPlainObject } from '../util/json.ts'
import { quoted } from '../util/text.ts'

/** Null: the value fits; else a sentence that names the place, quotes what was seen and says what is wanted. */
export type Check = (value: unknown, at: string) => string | null

/** A field that may be left out. */
export interface Optional {
  readonly optional: Check
}

/** A check for every field of `T`, by name: optional where the field is. A field that is missing here is a type error. */
export type Fields<T> = { readonly [Key in keyof T]-?: object extends Pick<T, Key> ? Optional : Check }

/** Checks for every member of a union, by its tag. */
export type Variants<T extends Readonly<Record<Tag, string>>, Tag extends string> = {
  readonly [Kind in T[Tag]]: Fields<Omit<Extract<T, Readonly<Record<Tag, Kind>>>, Tag>>
}

export const optional = (check: Check): Optional => ({ optional: check })

export const text: Check = (value, at) => (typeof value === 'string' ? null : wrong(at, value, 'a text'))

export const flag: Check = (value, at) => (typeof value === 'boolean' ? null : wrong(at, value, 'true or false'))

export const count: Check = (value, at) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? null : wrong(at, value, 'a whole number from 0 up')

export const amount: Check = (value, at) =>
  typeof value === 'number' && value >= 0 && Number.isFinite(value) ? null : wrong(at, value, 'a number from 0 up')

/** The last millisecond that a `Date` can hold. */
const TIME_MAX = 8.64e15

/** Milliseconds since the epoch. */
export const time: Check = (value, at) =>
  typeof value === 'number' && value >= 0 && value <= TIME_MAX ? null : wrong(at, value, 'milliseconds since the epoch')

/** Whatever JSON can carry. */
export const json: Check = (value, at) => (value === undefined ? wrong(at, value, 'a value') : null)

export const jsonObject: Check = (value, at) => (isPlainObject(value) ? null : wrong(at, value, 'an object'))

export function orNull(check: Check): Check {
  return (value, at) => (value === null ? null : check(value, at))
}

/** One of these texts; the table has to name every member of `T`. */
export function oneOf<T extends string>(members: Readonly<Record<T, true>>): Check {
  const wanted = Object.keys(members)
  return (value, at) =>
    typeof value === 'string' && Object.hasOwn(members, value) ? null : wrong(at, value, `one of ${wanted.join(', ')}`)
}

export function listOf(check: Check): Check {
  return (value, at) => {
    if (!Array.isArray(value)) return wrong(at, value, 'a list')
    return firstProblem(value.entries(), ([index, item]) => check(item, `${at}[${index}]`))
  }
}

/** An object with these fields. Others are let be: a newer minor version may have added them. */
export function record<T>(fields: Fields<T>): Check {
  const checks = Object.entries<Check | Optional>(fields)
  return (value, at) => {
    if (!isPlainObject(value)) return wrong(at, value, 'an object')
    return firstProblem(checks, ([name, check]) => {
      const place = at === '' ? name : `${at}.${name}`
      if (typeof check === 'function') return check(value[name], place)
      return value[name] === undefined ? null : check.optional(value[name], place)
    })
  }
}

/** An object whose field `tag` says which of these it is. */
export function union<T extends Readonly<Record<Tag, string>>, Tag extends string>(
  tag: Tag,
  variants: Variants<T, Tag>,
): Check {
  const checks = new Map(
    Object.entries<Fields<unknown>>(variants).map(([kind, fields]) => [kind, record(fields)] as const),
  )
  return (value, at) => {
    if (!isPlainObject(value)) return wrong(at, value, 'an object')
    const kind = value[tag]
    const check = typeof kind === 'string' ? checks.get(kind) : undefined
    if (check !== undefined) return check(value, at)
    return wrong(at === '' ? tag : `${at}.${tag}`, kind, `one of ${[...checks.keys()].join(', ')}`)
  }
}

function firstProblem<T>(items: Iterable<T>, problem: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = problem(item)
    if (found !== null) return found
  }
  return null
}

function wrong(at: string, value: unknown, wanted: string): string {
  const place = at === '' ? 'it' : at
  return value === undefined
    ? `${place} is missing; it must be ${wanted}`
    : `${place} is ${quoted(value, 60)}; it must be ${wanted}`
}
