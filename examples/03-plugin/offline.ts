/** Stands in for a provider where there is no key: wants too much, takes the cheaper one, and forgets the total at first. */
import { scriptedModel } from 'turnstep'

const order = (article: string, price: number) => ({ call: { name: 'order', args: { article, price } } })

export const offline = scriptedModel([
  { expect: { system: 'at most 100 EUR' }, emit: [order('designer lamp', 240)] },
  { expect: { lastOutcome: 'denied', lastResult: 'needs a person' }, emit: [order('desk lamp', 35)] },
  { expect: { lastOutcome: 'ok' }, emit: [{ text: 'I ordered a desk lamp.' }] },
  { expect: { lastUser: 'Total:' }, emit: [{ text: 'I ordered a desk lamp.\nTotal: 35 EUR' }] },
])
