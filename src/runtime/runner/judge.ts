/**
 * From a requested call to one that may start (C8, C9, T6, A1, A2): validate, guard, ask policy, validate what policy rewrote, ask
 * the tool whether that needs a person, ask for approval. In model order, before any body runs, so that all questions of a batch
 * are open at once. What was let through is remembered here only; it is judged again after a crash, and what was denied or asked
 * is a fact.
 */
import type { CallRecord } from '../../kernel/events.ts'
import type { CallOutcome } from '../../kernel/outcome.ts'
import type { CallId } from '../../kernel/ids.ts'
import { askHook } from '../ask-hook.ts'
import { judgeRepetition } from '../../kernel/guard.ts'
import { TurnstepError } from '../../kernel/errors.ts'
import { grantKey, type Call, type Step } from '../../kernel/state.ts'
import { canonicalJson, isPlainObject } from '../../util/json.ts'
import { asLogged } from '../borders.ts'
import { after, type Maybe } from '../../util/maybe.ts'
import { wellFormed } from '../../util/wellformed.ts'
import type { CallDecision } from '../define/plugin.ts'
import { argsProblem } from './reply.ts'
import type { Run } from './run.ts'
import { askEach, hasHook } from './run-hooks.ts'
import { outcomeContent } from './call-facts.ts'
import { schemaHint } from '../define/tool-schema.ts'
import type { Args, Tool } from '../define/tool.ts'

/** A call that may start: its tool, and the arguments that its body gets. */
export interface Prepared {
  readonly tool: Tool
  readonly args: Args
  /** Arguments that a plugin put in place of the model's. */
  readonly rewritten: Args | null
}

type Judged = 'done' | 'control'

type Question = Extract<CallDecision, { kind: 'ask' }>

const NO_SAY: CallDecision = { kind: 'allow' }

/** How long a schema may take to check arguments. */
const VALIDATE_MS = 30_000

export class Judge {
  readonly #run: Run
  readonly #prepared = new Map<CallId, Prepared>()

  constructor(run: Run) {
    this.#run = run
  }

  get judged(): { has(call: CallId): boolean } {
    return this.#prepared
  }

  /** Forgets a call once it has started, or all of them when the state was loaded anew. */
  forget(id?: CallId): void {
    if (id === undefined) this.#prepared.clear()
    else this.#prepared.delete(id)
  }

  /** Judges these calls, one after the other; stops early when control arrives. */
  judge(ids: readonly CallId[], from = 0): Maybe<void> {
    for (let at = from; at < ids.length; at++) {
      const judged = this.#one(this.#run.state.step!.byId.get(ids[at]!)!)
      if (judged === 'control') return
      if (judged instanceof Promise)
        return judged.then((done) => (done === 'control' ? undefined : this.judge(ids, at + 1)))
    }
  }

  /** A call that may start though it was not judged here: it was approved, or starts again after a crash. Null: it was closed, or control came in between. */
  prepare(call: Call): Maybe<Prepared | null> {
    const known = this.#prepared.get(call.record.id)
    if (known !== undefined) return known
    if (call.status === 'requested')
      throw new TurnstepError(
        'rule-broken',
        `call ${call.record.id} breaks A1: the loop starts it before it was judged`,
      )
    return after(this.#check(call, call.args ?? null), (checked) => {
      if (checked === 'control') return null
      if ('tool' in checked) return checked
      // What was started cannot be said never to have run, though nothing here can run it any more.
      return this.#end(call, call.status === 'started' ? { kind: 'unknown', reason: 'crashed' } : checked)
    })
  }

  #one(call: Call): Maybe<Judged> {
    return after(this.#validate(call, null), (prepared) => {
      if (prepared === 'control') return 'control'
      if (prepared === null || this.#guarded(call)) return 'done'
      return after(this.#policy(call, prepared), (verdict) =>
        verdict === 'control' ? 'control' : this.#apply(call, prepared, verdict),
      )
    })
  }

  /** Null: answered as invalid. */
  #validate(call: Call, rewritten: Args | null): Maybe<Prepared | 'control' | null> {
    return after(this.#check(call, rewritten), (checked) =>
      checked === 'control' || 'tool' in checked ? checked : this.#end(call, checked),
    )
  }

  #check({ record }: Call, rewritten: Args | null): Maybe<Prepared | Invalid | 'control'> {
    const { agent, wording } = this.#run
    const tool = agent.tools.get(record.name)
    if (tool === undefined) return invalid('tool', wording.noTool(record.name, [...agent.tools.keys()]))
    const args = rewritten ?? record.args
    if (args === undefined)
      return invalid('json', `${wording.badJson(argsProblem(record.rawArgs))}\nSchema: ${schemaHint(tool.parameters)}`)
    // The schema is the user's code: it may take its time, or never come back.
    const asked = askHook(
      () => tool.validate(args),
      this.#run.askOptions({ plugin: record.name, timeoutMs: VALIDATE_MS }),
    )
    return after(asked, (answer) => {
      if (answer.kind === 'control') return 'control'
      if (answer.kind === 'failed') return invalid('schema', answer.error.message)
      const validated = answer.value!
      return validated.ok ? { tool, args: validated.args, rewritten } : invalid('schema', validated.message)
    })
  }

  #guarded(call: Call): boolean {
    const { state, wording } = this.#run
    if (call.parent !== null) return false
    const verdict = judgeRepetition(state.turn!, batchOf(state.step!), call.record)
    if (verdict.kind === 'run') return false
    const message = wording.repeated(call.record.name, verdict.times)
    this.#end(call, {
      kind: 'intercepted',
      by: 'loop-guard',
      message,
      times: verdict.times,
      ...(verdict.kind === 'stuck' ? { stuck: true } : {}),
    })
    return true
  }

  /** What the plugins say; a hook that fails denies: a broken policy must not open a door (A1). */
  #policy(call: Call, prepared: Prepared): Maybe<CallDecision | 'control'> {
    return hasHook(this.#run, 'decideCall') ? this.#askPolicy(call, prepared) : NO_SAY
  }

  async #askPolicy(call: Call, prepared: Prepared): Promise<CallDecision | 'control'> {
    let verdict: CallDecision = NO_SAY
    const { record } = call
    const asked = await askEach(
      this.#run,
      'decideCall',
      (hook, context) => hook({ record, args: argsOf(verdict) ?? prepared.args, tool: prepared.tool }, context),
      (answer) => void (verdict = stronger(verdict, sound(answer))),
      (error) => void (verdict = stronger(verdict, { kind: 'deny', reason: error.message })),
    )
    return asked === 'control' ? 'control' : verdict
  }

  /** Deny beats ask beats allow, whatever the source (A1). */
  #apply(call: Call, prepared: Prepared, verdict: CallDecision): Maybe<Judged> {
    if (verdict.kind === 'deny') {
      this.#end(call, { kind: 'denied', by: 'policy', reason: verdict.reason })
      return 'done'
    }
    return after(verdict.args === undefined ? prepared : this.#validate(call, verdict.args), (ready) => {
      if (ready === 'control') return 'control'
      if (ready === null) return 'done'
      const question = this.#questionOf(call, ready, verdict)
      if (question !== undefined) this.#ask(call, ready, question)
      else this.#prepared.set(call.record.id, ready)
      return 'done'
    })
  }

  /**
   * The question that a person has not answered for the session yet, if there is one (A2). The tool is asked last, about what would
   * run: what plugins put in place of the model's arguments may need a yes that those did not, or none.
   */
  #questionOf({ record }: Call, { tool, args }: Prepared, verdict: CallDecision): Question | undefined {
    const own = tool.approval(args)
    const questions: Question[] = own === null ? [] : [{ kind: 'ask', reason: own }]
    if (verdict.kind === 'ask') questions.push(verdict)
    return questions.find(({ reason }) => !this.#run.state.grants.has(grantKey(record.name, reason)))
  }

  #ask(call: Call, { rewritten }: Prepared, { reason, expiresInMs }: Question): void {
    const { ids, journal, store } = this.#run
    const argsHash = ids.sha256(canonicalJson(rewritten ?? call.record.args))
    journal.record({
      type: 'call.approval-asked',
      call: call.record.id,
      argsHash,
      reason,
      ...(expiresInMs === undefined ? {} : { expiresAt: store.now() + expiresInMs }),
      ...(rewritten === null ? {} : { args: rewritten }),
    })
  }

  #end(call: Call, outcome: Exclude<CallOutcome, { kind: 'ok' }>): null {
    const content = outcomeContent(this.#run, call, outcome)
    this.#run.journal.record({ type: 'call.ended', call: call.record.id, outcome, content })
    return null
  }
}

function batchOf(step: Step): CallRecord[] {
  return step.calls.filter(({ parent }) => parent === null).map(({ record }) => record)
}

type Invalid = Extract<CallOutcome, { kind: 'invalid' }>

/** What is said may quote the model's own text, cut anywhere (X8). */
function invalid(problem: Invalid['problem'], message: string): Invalid {
  return { kind: 'invalid', problem, message: wellFormed(message) }
}

/** A policy that gives no decision that is known must not open a door: thrown, it denies like one that failed. */
function sound(decision: CallDecision): CallDecision {
  if (!isPlainObject(decision) || !Object.hasOwn(STRENGTH, decision.kind))
    throw new TypeError('no decision that is known')
  if (decision.kind === 'deny' || decision.args === undefined) return decision
  return { ...decision, args: asLogged(decision.args) as Args }
}

const STRENGTH = { allow: 0, ask: 1, deny: 2 } as const

function stronger(one: CallDecision, other: CallDecision): CallDecision {
  const winner = STRENGTH[other.kind] > STRENGTH[one.kind] ? other : one
  const args = argsOf(other) ?? argsOf(one)
  return winner.kind === 'deny' || args === undefined ? winner : { ...winner, args }
}

function argsOf(decision: CallDecision): Args | undefined {
  return decision.kind === 'deny' ? undefined : decision.args
}
