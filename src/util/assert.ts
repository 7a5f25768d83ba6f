/** Ends a switch over a union: a new member is then a type error here, and a loud bug at run time. */
export function assertNever(value: never, what = 'value'): never {
  throw new Error(`unexpected ${what}: ${JSON.stringify(value)}`)
}

/** States an invariant of our own code. Never used to check input: bad input gets an error with a code. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`)
}
