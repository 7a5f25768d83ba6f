/** Ends a switch over a union: a new member is then a type error here, and a loud bug at run time. */
export function assertNever(value: never, what = 'value'): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`)
}
