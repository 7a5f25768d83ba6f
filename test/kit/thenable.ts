/** A promise of another library, which has `then` and promises nothing more. */
export function thenable<T>(then: (resolve: (value: T) => void) => unknown): Promise<T> {
  return Object.defineProperty({}, 'then', { value: then }) as Promise<T>
}
