/** Faults of doing: the order of commits, hooks, sleeps and model calls. */
import { scenario, type Mutant } from '../mutant.ts'

const RUNNER_FILE = 'src/runtime/runner/runner.ts'
const GATE = 'src/runtime/runner/gate.ts'
const INFERENCE = 'src/runtime/runner/inference.ts'
const JOURNAL = 'src/runtime/runner/journal.ts'
const ENDING = 'src/runtime/runner/ending.ts'
const ABSORB = 'src/runtime/runner/absorb.ts'
const REPLY = 'src/runtime/runner/reply.ts'
const RETRY = 'src/runtime/runner/retry.ts'

export const RUNNER: readonly Mutant[] = [
  {
    id: 'no-proof-at-the-end',
    rules: ['I5', 'case 014'],
    fault: 'A turn ends completed although a steer came in its last moment: nobody reads it.',
    file: ENDING,
    find: `outcome.kind === 'max-tokens' ? ['control', 'steer'] : []`,
    replace: `outcome.kind === 'max-tokens' ? [] : []`,
    caughtBy: [scenario('steer_while_a_stop_hook_thinks_goes_on_with_the_turn', '+ 1.1 turn.ended completed')],
  },
  {
    id: 'no-second-look-after-a-hook',
    rules: ['T7', 'I13', 'I5'],
    fault: 'An abort that comes after the stop hooks have answered finds its turn completed.',
    file: ENDING,
    find: `outcome.kind === 'max-tokens' ? ['control', 'steer'] : []`,
    replace: `outcome.kind === 'max-tokens' ? ['steer'] : []`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'T7 I13: an abort that is durable before the end of its turn ends it, whatever the instant',
        says: `"outcome": "completed"`,
      },
    ],
  },
  {
    id: 'vetoes-without-cap',
    rules: ['T5', 'case 042'],
    fault: 'A hook that always vetoes keeps the turn going for ever.',
    file: ENDING,
    find: `if (vetoes >= limits.vetoes)`,
    replace: `if (vetoes > 1_000 * limits.vetoes)`,
    caughtBy: [scenario('veto_capped', 'breaks T5: more than 3 vetoes')],
  },
  {
    id: 'abort-drops-what-came-after',
    rules: ['I9', 'case 012'],
    fault: 'An abort that drops what was waiting also drops what the user wrote after it.',
    file: ENDING,
    find: `.filter((input) => input.at <= at)`,
    replace: ``,
    caughtBy: [scenario('abort_leaves_what_came_after_it', 'input.rejected after followup dropped')],
  },
  {
    id: 'cut-not-proved',
    rules: ['I4', 'case 011'],
    fault: 'A steer that was durable before the request is not in it.',
    file: INFERENCE,
    find: `purpose === 'limit' ? ['control'] : ['control', 'steer', 'note']`,
    replace: `['control']`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'steer > I13 I4 W3: is seen at once if it comes at before-append',
        says: "to deeply equal [ 'before-append', 2, true ]",
      },
    ],
  },
  {
    id: 'request-not-stopped-by-control',
    rules: ['T7', 'I13'],
    fault: 'A model is asked although the abort of its turn is durable.',
    file: INFERENCE,
    find: `purpose === 'limit' ? ['control'] : ['control', 'steer', 'note']`,
    replace: `purpose === 'limit' ? [] : ['steer', 'note']`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'abort > I13 I4 W3: is seen at once if it comes at before-append',
        says: "to deeply equal [ 'before-append', 2, true ]",
      },
    ],
  },
  {
    id: 'request-flushed-too-late',
    rules: ['L2', 'I4', 'X1'],
    fault: 'A model is asked before its request is durable: after a crash the log knows nothing of what was paid for.',
    file: JOURNAL,
    find: `return this.#append([...this.#buffer, event], unlessPending, event)`,
    replace: `if (event.type === 'model.requested') {
      fold(this.state, event)
      this.#buffer.push(event)
      return 'done'
    }
    return this.#append([...this.#buffer, event], unlessPending, event)`,
    caughtBy: [
      {
        test: 'test/crash/sync-points.test.ts',
        name: 'a process that dies > I2 C3 C4 W4: at every model-output is taken over without loss',
        says: 'X1: request 3 does not start with the one before it',
      },
    ],
  },
  {
    id: 'older-flight-lands',
    rules: ['T10', 'case 077'],
    fault: 'What a model call that was given up still says is recorded as the answer of the one that took its place.',
    file: INFERENCE,
    find: `if (this.#flight !== flight) return`,
    replace: ``,
    caughtBy: [scenario('failure_of_a_superseded_call_is_nobodys', 'breaks T10: attempt 1 is not open')],
  },
  {
    id: 'abort-not-heard-by-the-reader',
    rules: ['T7', 'T8', 'case 019'],
    fault: 'A model that ignores the abort finishes its reply, and the aborted turn records it as completed.',
    file: INFERENCE,
    find: `flight.scope.onAbort(() => {`,
    replace: `void ((_never: () => void): void => {})(() => {`,
    caughtBy: [
      {
        test: 'test/cases/abort.test.ts',
        name: 'a reply that was stopped in the middle > T7 T8, case 019: a model that finishes its reply all the same is not heard: the turn has what was shown, as interrupted',
        says: "to match object [ { reason: 'aborted', text: 'one ' } ]",
      },
    ],
  },
  {
    id: 'retry-keeps-the-old-text',
    rules: ['T10', 'case 077'],
    fault: 'A second attempt begins with the text of the first: words stand there twice.',
    file: INFERENCE,
    find: `flight.text += chunk.text`,
    replace: `flight.text = (globalThis as { kept?: string }).kept = ((globalThis as { kept?: string }).kept ?? '') + chunk.text`,
    caughtBy: [scenario('each_attempt_has_its_own_text', '+ 1.1 model.failed #2 interrupted after "onetwo"')],
  },
  {
    id: 'no-reset-for-watchers',
    rules: ['T10', 'case 077'],
    fault: 'Whoever shows the reply is not told that an attempt failed, and shows both.',
    file: INFERENCE,
    find: `run.publish({ type: 'reset', turn: run.state.turn!.n, step: run.state.step!.n, attempt: flight.attempt })`,
    replace: ``,
    caughtBy: [
      {
        test: 'test/cases/attempts.test.ts',
        name: 'a retry after output was shown > case 077: nothing of the first attempt is in the message, watchers are told to reset, its call never runs',
        says: 'reset 1',
      },
    ],
  },
  {
    id: 'partial-of-another-attempt',
    rules: ['T8', 'case 020'],
    fault: 'After a crash the text of an older attempt is kept as that of the one that was cut off.',
    file: INFERENCE,
    find: `partial.attempt === request!.attempt`,
    replace: `partial.attempt > 0`,
    caughtBy: [scenario('a_cut_off_call_has_its_own_text', '+ 1.1 reply.interrupted #2 crashed "abc')],
  },
  {
    id: 'shown-text-is-lost',
    rules: ['T8', 'case 020'],
    fault: 'Text that the user saw before an abort is in no log.',
    file: INFERENCE,
    find: `reason: 'aborted', text: flight.text,`,
    replace: `reason: 'aborted', text: '',`,
    caughtBy: [scenario('abort_while_the_model_speaks_keeps_its_text', '+ 1.1 reply.interrupted #1 aborted ""')],
  },
  {
    id: 'empty-finish-is-completed',
    rules: ['T3', 'case 037'],
    fault: 'A reply that says nothing ends the turn as if it were done.',
    file: REPLY,
    find: `if (end.kind !== 'done' && end.kind !== 'calls') return null`,
    replace: `if (end.kind !== 'calls') return null`,
    caughtBy: [scenario('empty_reply_is_retried', 'breaks T3: an empty reply')],
  },
  {
    id: 'broken-arguments-become-none',
    rules: ['C8', 'case 080'],
    fault: 'A call whose arguments cannot be read runs with none.',
    file: REPLY,
    find: `if (unreadableJson(raw) !== null) return null`,
    replace: `try { JSON.parse(raw) } catch { return {} }`,
    caughtBy: [scenario('invalid_json_args', '- 1.1 call.ended t1s1c1 invalid{json}')],
  },
  {
    id: 'retries-without-bound',
    rules: ['T10', 'case 004'],
    fault: 'A model call that fails is made again for ever.',
    file: RETRY,
    find: `|| attempt >= attemptsMax`,
    replace: ``,
    caughtBy: [scenario('attempts_are_bounded', '+ 1.1 model.requested #4')],
  },
  {
    id: 'refusal-retried',
    rules: ['T10', 'case 004'],
    fault: 'A request that the provider refused as invalid is sent again, byte for byte.',
    file: RETRY,
    find: `!failure.retry ||`,
    replace: ``,
    caughtBy: [scenario('terminal_failure_is_not_retried', '+ 1.1 model.requested #2')],
  },
  {
    id: 'backoff-without-bound',
    rules: ['T10'],
    fault: 'The pause between two attempts doubles until it is hours.',
    file: RETRY,
    find: `Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1))`,
    replace: `Math.max(CAP_MS, BASE_MS * 2 ** (attempt - 1))`,
    caughtBy: [
      {
        test: 'src/runtime/runner/retry.test.ts',
        name: 'the delay before the next attempt > T10: many failures: it is capped',
        says: 'expected 131072000 to be 15000',
      },
    ],
  },
  {
    id: 'retry-after-ignored',
    rules: ['T10'],
    fault: 'A provider that says when to come back is asked earlier, and locks us out.',
    file: RETRY,
    find: `if (failure.retryAfterMs !== undefined) return`,
    replace: `if (failure.retryAfterMs === -1) return`,
    caughtBy: [
      {
        test: 'src/runtime/runner/retry.test.ts',
        name: 'the delay before the next attempt > T10: a provider that names a time',
        says: 'expected 450 to be 7000',
      },
    ],
  },
  {
    id: 'one-input-at-a-gate',
    rules: ['I3', 'case 011'],
    fault: 'Steers that wait together enter one at a time.',
    file: GATE,
    find: `run.inbox.messages(['steer', 'note', 'followup'], followups)`,
    replace: `run.inbox.messages(['steer', 'note', 'followup'], followups).slice(0, 1)`,
    caughtBy: [scenario('turn_start_takes_all_followups_by_policy', '- 2.0 input.entered i3 followup')],
  },
  {
    id: 'two-followups-at-a-start',
    rules: ['I3'],
    fault: 'A turn takes the next question along with the first, and answers one of them.',
    file: GATE,
    find: `=== 'all' ? Infinity : 1`,
    replace: `=== 'all' ? Infinity : 2`,
    caughtBy: [scenario('turn_start_takes_one_followup_and_all_steers_and_notes', '- 3.0 turn.started input')],
  },
  {
    id: 'gate-hook-outlives-control',
    rules: ['T7', 'I13', 'case 012'],
    fault: 'Inputs enter an aborted turn because the hook was asked before the abort.',
    file: GATE,
    find: `if (entering === 'control') return null`,
    replace: ``,
    caughtBy: [scenario('hanging_gate_hears_an_abort', '+ 1.0 input.entered i1 followup')],
  },
  {
    id: 'destructive-claim',
    rules: ['I2', 'case 012'],
    fault: 'A claim takes the steer out of the queue at once: if the turn is aborted before it enters, it is nowhere.',
    file: GATE,
    find: `run.journal.record({ type: 'input.entered', input: id, lane, origin, content: visible(run, claim, input) })`,
    replace: `void run.store.withdraw(run.session, id); run.journal.record({ type: 'input.entered', input: id, lane, origin, content: visible(run, claim, input) })`,
    caughtBy: [
      {
        test: 'test/cases/queue.test.ts',
        name: 'a steer without a tool batch > case 014: sent while idle it is in the first request',
        says: 'never entered a turn: it was withdrawn',
      },
    ],
  },
  {
    id: 'claim-in-two-commits',
    rules: ['I2', 'case 012'],
    fault: 'The queue is told first and the log after: between the two an input is in neither.',
    file: JOURNAL,
    find: `await sync.reach('before-append') const answer = await store.append(append)`,
    replace: `await sync.reach('before-append')
    if (append.consume.length > 0) await store.append({ ...append, events: [], unlessPending: [] })
    const answer = await store.append({ ...append, consume: [] })`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'steer > I13 I4 W3: is seen at once if it comes at before-append',
        says: "expected [ 'before-append', 2, 'queued' ]",
      },
    ],
  },
  {
    id: 'claim-loses-results',
    rules: ['C2', 'I7'],
    fault: 'A steer that is withdrawn while it is claimed takes with it the results that were not written yet.',
    file: GATE,
    find: `if (inputs.length > 0 && run.journal.holdsResults) await run.journal.flush()`,
    replace: ``,
    caughtBy: [scenario('withdrawn_while_it_was_claimed', '- tool t1s1c1 ok "ok"')],
  },
  {
    id: 'rejection-takes-neighbours',
    rules: ['I8'],
    fault: 'One rejected message takes with it those that came beside it.',
    file: GATE,
    find: `verdicts.rejected.get(input.id)`,
    replace: `[...verdicts.rejected.values()][0]`,
    caughtBy: [scenario('rejection_leaves_neighbours_alone', '+ 1.1 input.rejected i3 steer')],
  },
  {
    id: 'expired-input-enters',
    rules: ['I6'],
    fault: 'A message whose time is over is shown to the model.',
    file: GATE,
    find: `run.store.now() > input.expiresAt`,
    replace: `input.expiresAt < 0`,
    caughtBy: [scenario('expired_steer_does_not_enter', '+ 1.1 input.entered s steer')],
  },
  {
    id: 'expired-input-starts-a-turn',
    rules: ['I6'],
    fault: 'A message whose time is over starts a turn, and holds up what waits behind it.',
    file: RUNNER_FILE,
    find: `if (trigger === 'input' && rejectExpired(this) > 0) return`,
    replace: ``,
    caughtBy: [scenario('expired_input_starts_nothing', '+ 2.0 turn.ended blocked{every input was rejected}')],
  },
  {
    id: 'forged-steer-mark',
    rules: ['I10', 'case 089'],
    fault: 'Text of a plugin or a child that carries the mark of a steer passes for the user.',
    file: GATE,
    find: `? input.content : input.content.map(neutralPart)`,
    replace: `? input.content : input.content`,
    caughtBy: [
      {
        test: 'test/cases/output.test.ts',
        name: 'text of others that looks like ours > I10, case 089: nor can what is posted in the name of a child, in whatever lane',
        says: 'not to contain',
      },
    ],
  },
  {
    id: 'forged-steer-mark-in-a-result',
    rules: ['I10', 'case 089'],
    fault: 'The output of a command that carries the mark of a steer passes for the user.',
    file: 'src/runtime/runner/tool-result.ts',
    find: `cutText(neutralise(only.text))`,
    replace: `cutText(only.text)`,
    caughtBy: [
      scenario('steer_mark_in_untrusted_text_is_neutralised', '+ 1.1 call.ended t1s1c1 ok "[correction from the USER'),
    ],
  },
  {
    id: 'forged-steer-mark-in-parts',
    rules: ['I10', 'case 089'],
    fault: 'The same where a result has several parts.',
    file: 'src/runtime/runner/tool-result.ts',
    find: `part.type === 'text' ? textPart(neutralise(part.text)) : part`,
    replace: `part`,
    caughtBy: [
      {
        test: 'test/cases/output.test.ts',
        name: 'text of others that looks like ours > case 089: the mark in a result is neutralised, and nothing is steered or approved by it',
        says: 'not to contain',
      },
    ],
  },
  {
    id: 'sleeps-through-an-arrival',
    rules: ['W3', 'L4', 'case 011'],
    fault: 'What arrives between the last look and the sleep is not seen until something else happens.',
    file: RUNNER_FILE,
    find: `if (!this.#sleeping.isWoken && !this.inbox.isStale) return this.#sleeping.till(`,
    replace: `return this.#sleeping.till(`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'abort > I13 I4 W3: is seen at once if it comes at after-append',
        says: "[ 'after-append', 3, 'entered', null ]",
      },
    ],
  },
  {
    id: 'no-second-look-after-a-release',
    rules: ['W3'],
    fault: 'A release that was refused because something had come is not followed by a look at what that was.',
    file: RUNNER_FILE,
    find: `this.inbox.reset() return false`,
    replace: `return false`,
    caughtBy: [
      {
        test: 'test/crash/arrivals.test.ts',
        name: 'W3: what refuses a release is looked at, though the store gave no hint of it',
        says: `expected { kind: 'queued' }`,
      },
    ],
  },
  {
    id: 'torn-tail-not-told',
    rules: ['L5', 'case 054'],
    fault: 'What was lost of a log is set aside, and nobody is told.',
    file: RUNNER_FILE,
    find: `if (lease.repaired !== null) recordDamage(this, lease.repaired)`,
    replace: ``,
    caughtBy: [
      {
        test: 'test/cases/damage.test.ts',
        name: 'a log that was damaged > case 054: the last records are torn: what came before is there, the loss is a visible fact, once, for people and for the model, and the lost input comes again',
        says: 'to match object { seq: 17, from: 17 }',
      },
    ],
  },
  {
    id: 'gate-once-per-step',
    rules: ['T10', 'T11'],
    fault: 'A second attempt is made without passing the gate: a policy that would refuse it is not asked.',
    file: RUNNER_FILE,
    find: `if (answer === done) this.#viewpoint.gated = false`,
    replace: `if (answer === done) return`,
    caughtBy: [scenario('retry_passes_the_gate', '- 1.1 step.refused')],
  },
  {
    id: 'abort-ignored-by-a-hook',
    rules: ['T7', 'case 018'],
    fault: 'A hook that never answers holds up the abort of its turn.',
    file: 'src/runtime/ask-hook.ts',
    find: `undo.push(options.onControl(overtake))`,
    replace: ``,
    caughtBy: [scenario('hanging_gate_hears_an_abort', '- 1.0 turn.abort-asked')],
  },
  {
    id: 'no-second-look-before-a-hook',
    rules: ['T7', 'I13'],
    fault: 'An abort that came between two hooks is not seen while the second one thinks.',
    file: 'src/runtime/runner/control-watch.ts',
    find: `if (this.#inbox.isStale || this.#inbox.view.control > 0) void this.#look()`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/runtime/runner/run-hooks.test.ts',
        name: 'control that comes between two hooks of a name > I13 T7: decideCall: the second does not sleep through it, whatever the instant',
        says: 'to deeply equal []',
      },
    ],
  },
  {
    id: 'abort-told-before-it-is-durable',
    rules: ['I13', 'T7'],
    fault: 'Bodies are told to stop before the abort is a fact: a crash forgets it, and the turn goes on.',
    file: ABSORB,
    find: `await run.journal.flush() run.inbox.drop(inputs)`,
    replace: `run.inbox.drop(inputs)`,
    caughtBy: [scenario('abort_settles_calls_as_unknown_after_grace', '+ ~ deaf t1s1c1 is told to stop')],
  },
  {
    id: 'approval-bound-to-the-call-only',
    rules: ['A2', 'case 087'],
    fault: 'A yes to arguments that were shown runs the call with others.',
    file: ABSORB,
    find: `if (control.argsHash !== undefined && control.argsHash !== call.argsHash) return null`,
    replace: ``,
    caughtBy: [scenario('approval_of_other_arguments_is_stale', '- 1.1 input.rejected i2 control stale')],
  },
  {
    id: 'late-approval-counts',
    rules: ['A2', 'case 060'],
    fault: 'A yes that comes after its time was over is taken.',
    file: ABSORB,
    find: `if (call.expiresAt !== null && run.store.now() >= call.expiresAt) return null`,
    replace: ``,
    caughtBy: [scenario('answers_after_expiry_are_stale', '+ 1.1 call.approval-decided t1s1c1 allow')],
  },
  {
    id: 'stale-decision-stops-the-runner',
    rules: ['I13', 'A2'],
    fault: 'A second yes to the same call is not refused as stale: the runner stops on it, each time anew.',
    file: ABSORB,
    find: `if (call?.status !== 'asked') return null`,
    replace: `if (call === undefined) return null`,
    caughtBy: [scenario('second_answer_is_stale', 'breaks A2: t1s1c1 is started')],
  },
  {
    id: 'changes-to-a-forgotten-queue',
    rules: ['I6', 'L4'],
    fault: 'Changes that were read before the state was loaded anew are taken for the whole queue.',
    file: 'src/runtime/runner/inbox.ts',
    find: `if (this.#mark === since) this.#apply(changes)`,
    replace: `if (changes.pending.length >= 0) this.#apply(changes)`,
    caughtBy: [
      {
        test: 'src/runtime/runner/inbox.test.ts',
        name: 'Inbox > I2: a reading that was under way when all was forgotten does not count as one since',
        says: "expected [] to deeply equal [ 'one' ]",
      },
    ],
  },
  {
    id: 'settled-twice',
    rules: ['I6', 'case 011'],
    fault: 'An input whose settlement is not durable yet is read from the store and settled again.',
    file: 'src/runtime/runner/inbox.ts',
    find: `if (this.#settled.has(input.id)) continue`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/runtime/runner/inbox.test.ts',
        name: 'Inbox > I6: an input that was taken and is edited meanwhile is not taken again before its commit',
        says: "expected [ 'one' ] to deeply equal []",
      },
    ],
  },
  {
    id: 'grace-by-the-clock',
    rules: ['T7'],
    fault: 'A clock that is set back keeps an aborted turn going for as long as it was set back.',
    file: 'src/runtime/runner/grace.ts',
    find: `? Math.max(now, this.#over) : now`,
    replace: `? now : now`,
    caughtBy: [
      {
        test: 'test/cases/abort.test.ts',
        name: 'the grace of an abort > T7: is not stretched by a clock that is set back, whatever comes in meanwhile',
        says: 'five seconds have passed',
      },
    ],
  },
  {
    id: 'cut-log-not-noticed',
    rules: ['L5'],
    fault:
      'Who follows a damaged log that is mended and grows again is never shown what stands where the lost part stood.',
    file: 'src/runtime/session/follow.ts',
    find: `if (events.length === 0 || events[0]!.fence <= fence) return false`,
    replace: `if (events.length >= 0) return false`,
    caughtBy: [
      {
        test: 'test/cases/damage.test.ts',
        name: 'a log that was damaged > L5: whoever watched the part that was lost sees where the log goes on instead, also once it is longer than it was',
        says: 'were lost and set aside',
      },
    ],
  },
  {
    id: 'handed-over-across-leases',
    rules: ['L5'],
    fault: 'What a new runner hands on hides that the log was mended before it.',
    file: 'src/runtime/session/follow.ts',
    find: `if (first?.seq !== end + 1 || first.fence !== this.#fence ||`,
    replace: `if (first?.seq !== end + 1 ||`,
    caughtBy: [
      {
        test: 'src/runtime/session/follow.test.ts',
        name: 'what a runner of this process has written > L5: does not hide that the log was mended before it',
        says: 'to deeply equal',
      },
    ],
  },
  {
    id: 'timers-starved',
    rules: ['W3'],
    fault:
      'A session whose model and tools answer from memory keeps every timer of its process waiting until its turn ends.',
    file: 'src/runtime/runner/fair-share.ts',
    find: `now - this.#waitingSince >= SHARE_MS`,
    replace: `now < this.#waitingSince`,
    caughtBy: [
      {
        test: 'src/runtime/runner/fair-share.test.ts',
        name: 'a pause once timers have waited for 100 ms, that ends as soon as they are served',
        says: 'not to be null',
      },
    ],
  },
  {
    id: 'parked-on-a-withdrawn-input',
    rules: ['I7'],
    fault: 'A runner that parks stops for good because of an input that was withdrawn at that moment.',
    file: 'src/runtime/runner/runner.ts',
    find: `        if (!(error instanceof InputsGone)) throw error
        await this.#reload()`,
    replace: `        if (!(error instanceof InputsGone) || this.#parking) throw error
        await this.#reload()`,
    caughtBy: [
      {
        test: 'test/sim/sim.test.ts',
        name: 'what once failed > withdrawn_while_the_runner_parks.sim.json',
        says: 'stopped',
      },
    ],
  },
]
