/** The three families of models that the Messages API serves, told by the version in the id. */

/**
 * `classic` (up to 4.5): thinking by budget, a reply may be begun for the model · `adaptive` (4.6 to 5.0): neither ·
 * `bound` (from 5.1): thinking cannot be switched off, and its blocks are bound to everything before them.
 */
export type Family = 'classic' | 'adaptive' | 'bound'

/** Of the first number in the id, with its minor one; an id without is `adaptive`. */
export function familyOf(model: string): Family {
  const version = versionOf(model)
  return version === null ? 'adaptive' : version <= 4.5 ? 'classic' : version < 5.1 ? 'adaptive' : 'bound'
}

/** From 4.8 on a model takes messages in the system role. */
export const takesSystemMessages = (model: string): boolean => (versionOf(model) ?? 0) >= 4.8

/** From 4.7 on thinking is not asked for by budget. */
export const refusesBudgets = (model: string): boolean => (versionOf(model) ?? 0) >= 4.7

function versionOf(model: string): number | null {
  const [, major, minor = '0'] = /(?:^|\D)(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? []
  return major === undefined ? null : Number(`${major}.${minor}`)
}
