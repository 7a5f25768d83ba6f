/** Checks values by shapes. A check answers with what is wrong and where, so that the message can name it. */
import { isPlainObject } from '../util/json.ts'
import { quoted } from '../util/text.ts'
import type { Field, Form } from './shape.ts'

/** Null: the value fits; else a sentence that names the place, quotes what was seen and says what is wanted. `at`: the place of the value. */
export function misfit(form: Form, value: unknown, at: string): string | null {
  switch (form.kind) {
    case 'text':
      if (typeof value !== 'string') return wrong(at, value, 'a text')
      return form.pattern === undefined || form.pattern.test(value) ? null : wrong(at, value, form.wanted ?? 'another')
    case 'flag':
      return typeof value === 'boolean' ? null : wrong(at, value, 'true or false')
    case 'number':
      return isNumber(form, value) ? null : wrong(at, value, form.wanted)
    case 'json':
      return value === undefined ? wrong(at, value, 'a value') : null
    case 'json-object':
      return isPlainObject(value) ? null : wrong(at, value, 'an object')
    case 'one-of':
      return typeof value === 'string' && form.members.includes(value)
        ? null
        : wrong(at, value, `one of ${form.members.join(', ')}`)
    case 'or-null':
      return value === null ? null : misfit(form.form, value, at)
    case 'list':
      return listMisfit(form.item, value, at)
    case 'record':
      return isPlainObject(value) ? fieldsMisfit(form.fields, value, at) : wrong(at, value, 'an object')
    case 'union':
      return unionMisfit(form, value, at)
    case 'named':
      return misfit(form.form, value, at)
  }
}

type FormOf<Kind extends Form['kind']> = Extract<Form, { kind: Kind }>

function isNumber({ isWhole, min, max }: FormOf<'number'>, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isInteger(value))) return false
  return value >= min && (max === undefined || value <= max)
}

function listMisfit(item: Form, value: unknown, at: string): string | null {
  if (!Array.isArray(value)) return wrong(at, value, 'a list')
  for (const [index, one] of value.entries()) {
    const found = misfit(item, one, `${at}[${index}]`)
    if (found !== null) return found
  }
  return null
}

function fieldsMisfit(fields: readonly Field[], value: Readonly<Record<string, unknown>>, at: string): string | null {
  for (const { name, form, isOptional } of fields) {
    const own = Object.hasOwn(value, name) ? value[name] : undefined
    if (isOptional && own === undefined) continue
    const found = misfit(form, own, within(at, name))
    if (found !== null) return found
  }
  return null
}

function unionMisfit({ tag, variants }: FormOf<'union'>, value: unknown, at: string): string | null {
  if (!isPlainObject(value)) return wrong(at, value, 'an object')
  const kind = Object.hasOwn(value, tag) ? value[tag] : undefined
  const fields = typeof kind === 'string' ? variants.get(kind) : undefined
  if (fields !== undefined) return fieldsMisfit(fields, value, at)
  return wrong(within(at, tag), kind, `one of ${[...variants.keys()].join(', ')}`)
}

const within = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`)

function wrong(at: string, value: unknown, wanted: string): string {
  const place = at === '' ? 'it' : at
  return value === undefined
    ? `${place} is missing; it must be ${wanted}`
    : `${place} is ${quoted(value, 60)}; it must be ${wanted}`
}
