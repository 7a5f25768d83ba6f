/** Watches a turn that somebody else drives, from the input that enters it to its end. */
import type { InputId } from '../kernel/ids.ts'
import type { State } from '../kernel/state.ts'
import type { Receipt, SessionHandle, Watched } from '../runtime/session.ts'
import { openAsks, showAsks } from './asks.ts'
import type { Cli } from './cli.ts'
import { EXIT, exitOfOutcome } from './exit.ts'
import type { Opened } from './open.ts'
import { TurnView } from './turn-view.ts'
import { watch } from './watching.ts'

interface Awaited {
  readonly receipt: Receipt
  /** The session as it was before the input was posted. */
  readonly before: State
}

/** Answers the exit code: that of the turn which the input entered, or that of a session that waits for a person. */
export async function awaitTurn(
  cli: Cli,
  { store }: Opened,
  session: SessionHandle,
  { receipt, before }: Awaited,
): Promise<number> {
  const { out } = cli
  const view = new TurnView(cli, before, new Set([receipt.id]))
  const until = new Until(receipt.id)
  const watching = watch(cli, store, { session, view, onSeen: (seen) => until.see(seen) })
  const lost = neverEnters(receipt)
  let exit: number = EXIT.failed
  try {
    for (let more = true; more && until.end === 'open'; more = await Promise.race([watching.next(), lost])) {
      const status = until.mayWait ? await session.status() : null
      if (status?.kind === 'waiting' && status.asks.length > 0) until.end = 'waiting'
    }
  } finally {
    await watching.stop()
  }
  if (until.end === 'waiting') {
    showAsks(cli, await openAsks(store, session.id))
    exit = EXIT.waiting
  } else if (until.end === 'ended' && view.outcome !== null) exit = exitOfOutcome(view.outcome)
  const { kind } = await session.status()
  out.line({
    type: 'result',
    session: session.id,
    status: kind,
    outcome: view.outcome,
    text: view.text,
    usage: view.usage,
    exit,
  })
  return exit
}

/** Resolves if the input is settled without having entered. */
function neverEnters(receipt: Receipt): Promise<false> {
  return new Promise((resolve) => {
    const look = async (): Promise<void> => {
      if ((await receipt.settled).kind !== 'entered') resolve(false)
    }
    // The session was closed before it was settled: whoever waits has heard of it.
    look().catch(() => {})
  })
}

/** Looks for the end of the turn that the input entered. */
class Until {
  /** `refused`: it was rejected, no turn will come of it. */
  end: 'open' | 'ended' | 'refused' | 'waiting' = 'open'
  readonly #input: InputId
  #turn: number | null = null
  /** Questions may be open from before. */
  #asks = 1

  constructor(input: InputId) {
    this.#input = input
  }

  /** A question is open: the turn may have come to rest. */
  get mayWait(): boolean {
    return this.#asks > 0
  }

  see(seen: Watched): void {
    if (seen.kind !== 'event') return
    const { event } = seen
    if (event.type === 'input.entered' && event.input === this.#input) this.#turn = event.turn
    if (event.type === 'input.rejected' && event.input === this.#input) this.end = 'refused'
    if (event.type === 'call.approval-asked' || event.type === 'call.deferred' || event.type === 'turn.limit-asked')
      this.#asks++
    if (event.type === 'turn.started' || event.type === 'step.ended') this.#asks = 0
    if (event.type === 'turn.ended' && event.turn === this.#turn) this.end = 'ended'
  }
}
