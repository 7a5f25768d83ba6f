/**
 * Values that may be there at once. A step is made of a dozen things that could wait and mostly need not: each `await` of what is
 * there already costs a turn of the event queue, and they add up to most of what a step costs.
 */

/** There at once, or later. */
export type Maybe<T> = T | Promise<T>

/** Whether a value of somebody else's making is still to come: their promises need not be ours. */
export function isLater<T>(value: Maybe<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}

/** Goes on with a value at once if it is there, else when it comes. */
export function after<T, R>(value: Maybe<T>, next: (value: T) => Maybe<R>): Maybe<R> {
  return isLater(value) ? Promise.resolve(value).then(next) : next(value)
}
