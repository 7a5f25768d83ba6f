/** What people write. */
import type { PostOptions } from '../../../runtime/session.ts'
import type { Action } from '../stage.ts'

interface Posted {
  readonly id: string
  readonly expiresInMs?: number
}

const post =
  (prefix: string): Action<Posted>['propose'] =>
  (stage, chance) => ({
    id: stage.fresh(prefix),
    ...(chance.is(0.1) ? { expiresInMs: chance.below(5_000) } : {}),
  })

const options = ({ id, expiresInMs }: Posted): PostOptions => ({
  id,
  ...(expiresInMs === undefined ? {} : { expiresInMs }),
})

export const send: Action<Posted> = {
  name: 'send',
  weight: 6,
  propose: post('f'),
  perform: ({ session }, params) => session.send(`text of ${params.id}`, options(params)),
}

export const steer: Action<Posted & { readonly now?: true }> = {
  name: 'steer',
  weight: 8,
  propose: (stage, chance) => ({ ...post('s')(stage, chance)!, ...(chance.is(0.5) ? { now: true as const } : {}) }),
  perform: ({ session }, params) =>
    session.steer(`text of ${params.id}`, {
      ...options(params),
      promptness: params.now === true ? 'now' : 'gate',
    }),
}

export const note: Action<Posted> = {
  name: 'note',
  weight: 4,
  propose: post('n'),
  perform: ({ session }, params) => session.note(`text of ${params.id}`, options(params)),
}

/** The same once more is the same input, whatever became of the first (I1). */
export const again: Action<{ readonly id: string }> = {
  name: 'again',
  weight: 2,
  propose: ({ posted }, chance) => (posted.length === 0 ? null : { id: chance.pick(posted) }),
  perform: ({ session }, { id }) => session.send('another text', { id }),
}
