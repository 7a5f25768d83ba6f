/**
 * What the loop gets to see: a picture of one moment, taken between two effects. Owns two facts of this lease, the passed gate and what
 * the log owed; the rest it gathers from where it is.
 * Invariant: the object is made once and written over by every look, as a loop keeps none.
 */
import type { View } from '../../kernel/effects.ts'
import type { Mutable } from '../../util/mutable.ts'
import type { CallPool } from './call-pool.ts'
import type { Grace } from './grace.ts'
import type { Inference } from './inference.ts'
import type { Judge } from './judge.ts'
import type { Run } from './run.ts'

interface Seen {
  readonly run: Run
  readonly inference: Inference
  readonly judge: Judge
  readonly pool: CallPool
  readonly grace: Grace
}

export class Viewpoint {
  /** The gate was passed for the coming model call. */
  gated = false
  /** What the log owed when it was loaded. */
  owed: View['owed'] = { seq: 0, downMs: 0 }
  readonly #seen: Seen
  #view: Mutable<View> | null = null

  constructor(seen: Seen) {
    this.#seen = seen
  }

  look(): View {
    const { run, inference, pool, grace } = this.#seen
    const view = (this.#view ??= this.#first())
    view.state = run.state
    view.inbox = run.inbox.view
    view.gated = this.gated
    view.shown = inference.shown
    view.held = pool.held
    view.now = grace.timeIn(run.state.turn, run.store.now())
    view.owed = this.owed
    view.settings = run.agent.settings
    return view
  }

  #first(): Mutable<View> {
    const { run, inference, judge, pool } = this.#seen
    return {
      state: run.state,
      inbox: run.inbox.view,
      live: { has: (what) => (what === 'infer' ? inference.live : what !== 'compact' && pool.isLive(what)) },
      judged: judge.judged,
      gated: this.gated,
      shown: inference.shown,
      fence: run.fence,
      held: pool.held,
      now: run.store.now(),
      owed: this.owed,
      settings: run.agent.settings,
    }
  }
}
