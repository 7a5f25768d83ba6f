/**
 * What a signal does to a session that this process drives: the first Ctrl-C aborts the turn, a SIGTERM parks it, the second of either
 * leaves at once. Nothing is lost in any case: what was not recorded yet is owed, and `--resume` goes on with it.
 */
import type { Session, Watched } from '../runtime/session.ts'
import type { Cli } from './cli.ts'
import { EXITS } from './io.ts'

export interface Stopping {
  /** The code to leave with; null while nothing told us to. */
  readonly exit: number | null
  see(seen: Watched): void
  /** Listens no more. */
  off(): void
}

export function stopping(cli: Cli, session: Session): Stopping {
  const { io, out, texts } = cli
  let exit: number | null = null
  const abort = (): void => {
    session.abort({ reason: 'Ctrl-C' }).catch((error: unknown) => out.complain(String(error)))
  }
  const off = io.onStop((stop) => {
    if (exit !== null) io.exit(EXITS[stop])
    exit = EXITS[stop]
    if (stop === 'SIGINT') {
      out.notice('aborting', texts.aborting)
      return abort()
    }
    out.notice('parked', texts.parked(session.id))
    session.close().catch((error: unknown) => out.complain(String(error)))
  })
  return {
    get exit() {
      return exit
    },
    see(seen) {
      // An abort that found no turn was stale; the one that begins after it is meant all the same.
      if (exit === EXITS.SIGINT && seen.kind === 'event' && seen.event.type === 'turn.started') abort()
    },
    off,
  }
}
