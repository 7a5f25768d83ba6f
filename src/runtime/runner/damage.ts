/**
 * The fact of a damaged log (L5). Owns what is recorded of it; finding, setting aside and giving the inputs back is the store's, when
 * the lease is acquired.
 * Invariant: it is recorded by the runner whose lease mended the log, before the loop is asked for anything.
 */
import { textPart } from '../../kernel/message.ts'
import type { Repair } from '../ports.ts'
import type { Run } from './run.ts'

/** What opening had to set aside of the log becomes a fact that people and the model see (L5). */
export function recordDamage({ journal, wording }: Run, { from, reason, quarantined, reopened }: Repair): void {
  const content = [textPart(wording.damaged(from))]
  journal.record({ type: 'log.damaged', from, reason, quarantined, reopened, content })
}
