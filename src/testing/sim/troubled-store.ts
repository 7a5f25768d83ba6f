/**
 * A store with everything that befalls stores: it is slow before and after a commit, cannot be reached, is full, loses an answer, says
 * that there was a conflict or that the lease is gone, tears a record in two, and sees the process die at either side of a commit.
 * Invariants: what fails before the verb below is run changes nothing; an answer that is lost or late was a commit; a torn record is
 * never read, and is reported to the next one who takes the lease (L5).
 */
import { TurnstepError } from '../../kernel/errors.ts'
import type { SessionId } from '../../kernel/ids.ts'
import type { Acquired, Append, Appended, Clock, Damage, ReadResult, Repair, Store } from '../../runtime/ports.ts'
import { layerOver, type Verb } from './store-layer.ts'

/** What befalls one verb. Numbers: so many milliseconds before and after it. */
export type Trouble =
  | null
  | readonly [beforeMs: number, afterMs: number]
  /** Fails, and nothing happened. */
  | 'unreachable'
  /** Happens, and the caller is told that it failed. */
  | 'lost-answer'
  /** An append is refused, as if the log or the lease were another's. */
  | 'conflict'
  | 'fenced'
  /** A renewal is refused. */
  | 'lease-lost'
  /** An append is half written, and the process dies of it. */
  | 'torn'
  | 'dies-before'
  | 'dies-after'

/** The disk under a store, shared by all who reach it. */
export class Disk {
  /** While it is set, whatever would write fails. */
  isFull = false
  /** Some record was torn in this run. */
  wasTorn = false
  /** Half a record behind the end of the log, until something is written over it. */
  readonly torn = new Map<SessionId, { readonly repair: Repair; mended: boolean }>()
}

export interface TroubleOptions {
  readonly clock: Clock
  readonly disk: Disk
  /** Asked before each verb. */
  readonly trouble: (verb: Verb) => Trouble
  /** Whether the append would be taken: only what is being written can be torn. */
  readonly isNext: (append: Append) => boolean
  /** Kills the process that calls. */
  readonly die: () => void
}

const READS: ReadonlySet<Verb> = new Set<Verb>([
  'read',
  'verify',
  'pending',
  'pendingSince',
  'receipt',
  'due',
  'readPartial',
  'readSnapshot',
  'list',
])

/** The store as one process reaches it. */
export function troubledStore(store: Store, options: TroubleOptions): Store {
  const { clock, disk, trouble } = options
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  return layerOver(store, (verb, args, run) => {
    const what = trouble(verb)
    return what === null && !disk.isFull && disk.torn.size === 0 ? run() : befallen(what, verb, args, run)
  })

  async function befallen(what: Trouble, verb: Verb, args: readonly unknown[], run: () => unknown): Promise<unknown> {
    if (Array.isArray(what) && what[0] > 0) await pause(what[0] as number)
    if (disk.isFull && !READS.has(verb)) throw new TurnstepError('store-full', `no space for "${verb}" in this test`)
    const answer = whatFails(what, verb, args) ?? (await happens(what, verb, args, run, options))
    if (Array.isArray(what) && what[1] > 0) await pause(what[1] as number)
    return answer
  }
}

/** An answer instead of the verb, or a throw; null: the verb is done. */
function whatFails(what: Trouble, verb: Verb, args: readonly unknown[]): unknown {
  if (what === 'unreachable') throw new TurnstepError('store-failed', `"${verb}" was not heard, in this test`)
  if (verb === 'append' && what === 'conflict') return { kind: 'conflict', tail: (args[0] as Append).tail }
  if (verb === 'append' && what === 'fenced') return { kind: 'fenced' }
  if (verb === 'renew' && what === 'lease-lost') return { kind: 'lost' }
  return null
}

async function happens(
  what: Trouble,
  verb: Verb,
  args: readonly unknown[],
  run: () => unknown,
  { disk, die, isNext }: TroubleOptions,
): Promise<unknown> {
  const isTorn = what === 'torn' && verb === 'append' && isNext(args[0] as Append)
  if (isTorn) tear(disk, args[0] as Append)
  if (isTorn || what === 'dies-before') {
    die()
    return new Promise(() => {})
  }
  const answer = damaged(disk, verb, args[0], await run())
  if (what === 'dies-after') die()
  if (what === 'lost-answer')
    throw new TurnstepError('store-failed', `"${verb}" was done, and nobody was told, in this test`)
  return answer
}

function tear(disk: Disk, { session, tail, events, consume }: Append): void {
  const reopened = consume.map(({ id }) => id)
  const repair: Repair = { from: tail + 1, reason: 'half a record', quarantined: events.length, reopened }
  disk.wasTorn = true
  disk.torn.set(session, { repair, mended: false })
}

/** Reading shows the damage; who takes the lease mends it and is told, until one of them has written on (L5). */
function damaged(disk: Disk, verb: Verb, subject: unknown, answer: unknown): unknown {
  if (disk.torn.size === 0) return answer
  const session = verb === 'append' ? (subject as Append).session : (subject as SessionId)
  const torn = disk.torn.get(session)
  if (torn === undefined) return answer
  if (verb === 'read' && !torn.mended) {
    const damage: Damage = { from: torn.repair.from, reason: torn.repair.reason }
    return { ...(answer as ReadResult), damage }
  }
  if (verb === 'append' && (answer as Appended).kind === 'appended') disk.torn.delete(session)
  if (verb !== 'acquire' || (answer as Acquired).kind !== 'acquired') return answer
  torn.mended = true
  return { ...(answer as Acquired), repaired: torn.repair }
}
