/** Effects of loops whose steps are code: a call that no model asked for, and a sleep that outlives the process. */
import type { Effect } from '../../kernel/effects.ts'
import { innerCallId, inputId, replyCallId } from '../../kernel/ids.ts'
import { makeCallRecord } from './reply.ts'
import type { Run } from './run.ts'

type EffectOf<Kind extends Effect['kind']> = Extract<Effect, { kind: Kind }>

/** Records the call; judging and running it is the ordinary path. */
export function requestCall(run: Run, { name, args, parent }: EffectOf<'call'>): void {
  const { turn, step } = run.state
  const index = step!.calls.filter((call) => call.parent === (parent ?? null)).length
  const id = parent === undefined ? replyCallId(turn!.n, step!.n, index) : innerCallId(parent, index)
  const call = makeCallRecord(run, id, { name, rawArgs: JSON.stringify(args) ?? '', providerId: '' })
  run.journal.record({ type: 'call.requested', call, ...(parent === undefined ? {} : { parent }) })
}

/** A timer is a control input whose time has not come; the loop rests until it is due. */
export async function sleepUntil(run: Run, { name, until }: EffectOf<'sleep'>): Promise<void> {
  // Turn and step are in the id: the same loop may sleep under the same name again.
  const id = inputId(`${run.session}:timer:${run.state.turnN}.${run.state.turn?.steps ?? 0}:${name}`)
  const control = { kind: 'timer', name } as const
  await run.store.put(
    run.session,
    { id, lane: 'control', origin: { kind: 'timer', name }, control },
    { notBefore: until },
  )
  run.journal.record({ type: 'loop.noted', key: `sleep:${name}`, value: until })
}
