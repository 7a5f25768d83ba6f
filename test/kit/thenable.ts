/** A promise of another library, which has `then` and promises nothing more. */
export function thenable<T>(then: (resolve: (value: T) => void) => unknown): Promise<T> {
  // oxlint-disable-next-line unicorn/no-thenable -- what it warns of is what is wanted
  return { then } as unknown as Promise<T>
}
