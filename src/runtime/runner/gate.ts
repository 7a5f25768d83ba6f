/**
 * The gate before every step and every attempt (I3, I4, I8, T10, T11). Owns which inputs enter and how they look; the commit that
 * makes it true is that of `model.requested`.
 */
import type { Effect } from '../../kernel/effects.ts'
import { inputId, type InputId } from '../../kernel/ids.ts'
import type { MessageInput } from '../../kernel/input.ts'
import { withoutBlanks, type Part } from '../../kernel/message.ts'
import { areParts } from '../borders.ts'
import type { Maybe } from '../../util/maybe.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import { neutralise } from '../wording.ts'

type Claim = Extract<Effect, { kind: 'claim' }>

/** What the hooks said of this gate. */
interface Verdicts {
  readonly rejected: Map<InputId, string>
  refused: string | null
  readonly injected: { readonly plugin: string; readonly content: readonly Part[] }[]
}

const NO_VERDICTS: Verdicts = { rejected: new Map(), refused: null, injected: [] }

/** True: the gate is passed, the model may be asked. False: something changed, look again. */
export function passGate(run: Run, claim: Claim): Maybe<boolean> {
  const inputs = candidates(run, claim)
  const asked = hasHook(run, 'decideEnter') || hasHook(run, 'injectContext')
  // Most steps of a turn: nothing came in, and nobody has a say.
  if (inputs.length === 0 && !asked) return enterGate(run, claim, inputs, NO_VERDICTS)
  return passWith(run, claim, inputs)
}

async function passWith(run: Run, claim: Claim, inputs: readonly MessageInput[]): Promise<boolean> {
  // A claim that fails loads the state anew, which would lose results that are only in the buffer.
  if (inputs.length > 0 && run.journal.holdsResults) await run.journal.flush()
  const verdicts = await askHooks(run, inputs)
  return verdicts === null ? false : enterGate(run, claim, inputs, verdicts)
}

function enterGate(run: Run, claim: Claim, inputs: readonly MessageInput[], verdicts: Verdicts): Maybe<boolean> {
  const turn = run.state.turn!
  if (turn.trigger === 'go-on' && turn.steps === 0) enterNotice(run, 'go-on', 'go-on', run.wording.goOn)
  const entered = enterAll(run, claim, inputs, verdicts)
  const reached = run.sync.reach('after-claim')
  return reached === undefined
    ? openStep(run, claim, entered, verdicts)
    : openStepLater(reached, run, claim, entered, verdicts)
}

async function openStepLater(reached: Promise<void>, ...step: Parameters<typeof openStep>): Promise<boolean> {
  await reached
  return openStep(...step)
}

function openStep(run: Run, claim: Claim, entered: number, verdicts: Verdicts): boolean {
  const turn = run.state.turn!
  if (verdicts.refused !== null) {
    run.journal.record({ type: 'step.refused', reason: verdicts.refused })
    return false
  }
  if (run.state.step !== null) return true
  if (entered === 0 && claim.needsInput) return false
  if (claim.purpose === 'limit') enterNotice(run, 'limit', 'step-limit', run.wording.limit(turn.limits.steps))
  run.journal.record({ type: 'step.started', purpose: claim.purpose })
  return true
}

/** All steers and notes; at a turn's start also one followup, or all of them by policy; in order of arrival (I3). */
function candidates(run: Run, claim: Claim): MessageInput[] {
  if (claim.purpose === 'limit') return []
  const followups = !claim.first ? 0 : run.agent.settings.followups === 'all' ? Infinity : 1
  return run.inbox.messages(['steer', 'note', 'followup'], followups)
}

async function askHooks(run: Run, inputs: readonly MessageInput[]): Promise<Verdicts | null> {
  const verdicts: Verdicts = { rejected: new Map(), refused: null, injected: [] }
  const attempt = (run.state.step?.requests ?? 0) + 1
  const entering = await askEach(
    run,
    'decideEnter',
    (hook, context) => hook({ inputs, attempt }, context),
    (answer) => {
      for (const [id, reason] of Object.entries(answer.reject ?? {})) verdicts.rejected.set(inputId(id), String(reason))
      if (answer.refuse !== undefined && answer.refuse !== null) verdicts.refused ??= String(answer.refuse)
    },
  )
  if (entering === 'control') return null
  const injecting = await askEach(
    run,
    'injectContext',
    (hook, context) => hook({ inputs }, context),
    (content, plugin) => {
      if (!areParts(content)) throw new TypeError('what it injects is no list of parts')
      const said = withoutBlanks(content)
      if (said.length > 0) verdicts.injected.push({ plugin, content: said })
    },
  )
  return injecting === 'control' ? null : verdicts
}

/** Settles the inputs that waited for too long (I6). Answers how many there were. */
export function rejectExpired(run: Run): number {
  const expired = run.inbox.expired()
  for (const input of expired) reject(run, input, 'expired')
  run.inbox.drop(expired)
  return expired.length
}

function isExpired(run: Run, input: MessageInput): boolean {
  return input.expiresAt !== undefined && run.store.now() > input.expiresAt
}

/** Records each input as entered or rejected, one by one (I8). Answers how many entered. */
function enterAll(run: Run, claim: Claim, inputs: readonly MessageInput[], verdicts: Verdicts): number {
  let entered = 0
  for (const input of inputs) {
    const reason = isExpired(run, input) ? 'expired' : verdicts.rejected.get(input.id)
    if (reason !== undefined) reject(run, input, reason)
    else {
      enter(run, claim, input)
      entered++
    }
  }
  run.inbox.drop(inputs)
  for (const { plugin, content } of verdicts.injected) {
    if (entered === 0 && claim.needsInput) break
    const id = inputId(`${run.session}:${plugin}:${run.state.seq + 1}`)
    run.journal.record({
      type: 'input.entered',
      input: id,
      lane: 'note',
      origin: { kind: 'plugin', name: plugin },
      content: content.map(neutralPart),
    })
  }
  return entered
}

function reject(run: Run, input: MessageInput, reason: string): void {
  run.journal.record({ type: 'input.rejected', input: input.id, lane: input.lane, reason })
  run.journal.consume(input, reason === 'expired' ? { kind: 'expired' } : { kind: 'rejected', reason })
}

function enter(run: Run, claim: Claim, input: MessageInput): void {
  const { id, lane, origin } = input
  run.journal.record({ type: 'input.entered', input: id, lane, origin, content: visible(run, claim, input) })
  const turn = run.state.turn!
  run.journal.consume(input, { kind: 'entered', turn: turn.n, step: run.state.step?.n ?? turn.steps + 1 })
}

/** A steer into a running turn wears its mark; nobody else's text can (I10). */
function visible(run: Run, claim: Claim, input: MessageInput): readonly Part[] {
  const content =
    input.origin.kind === 'user' || input.origin.kind === 'steer' ? input.content : input.content.map(neutralPart)
  if (input.lane !== 'steer' || claim.first) return content
  const [head, ...rest] = content
  const mark = run.wording.steerMark
  return head?.type === 'text'
    ? [{ type: 'text', text: mark + head.text }, ...rest]
    : [{ type: 'text', text: mark.trim() }, ...content]
}

function neutralPart(part: Part): Part {
  return part.type === 'text' ? { type: 'text', text: neutralise(part.text) } : part
}

/** What we have to say ourselves, once per turn: a step may be begun again after a crash. */
function enterNotice(run: Run, key: string, name: string, text: string): void {
  const id = inputId(`${run.session}:${key}:${run.state.turn!.n}`)
  if (run.state.settled.has(id)) return
  run.journal.record({
    type: 'input.entered',
    input: id,
    lane: 'note',
    origin: { kind: 'system', name },
    content: [{ type: 'text', text }],
  })
}
