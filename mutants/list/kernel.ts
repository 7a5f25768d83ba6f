/** Faults of legality and projection: what the fold accepts, and what a model is shown of it. */
import { scenario, type Mutant } from '../mutant.ts'

const LEGALITY = 'src/kernel/legality.ts'
const FOLD = 'src/kernel/fold.ts'
const CONTEXT = 'src/kernel/context.ts'

export const KERNEL: readonly Mutant[] = [
  {
    id: 'seq-gap-accepted',
    rules: ['L1', 'case 055'],
    fault: 'A log with a hole in it is folded as if nothing were missing: the model goes on without what stood there.',
    file: LEGALITY,
    find: `if (e.seq !== s.seq + 1)`,
    replace: `if (e.seq <= s.seq)`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "an event head > 'L1: a gap is refused'",
        says: "expected null to be 'L1'",
      },
    ],
  },
  {
    id: 'older-fence-accepted',
    rules: ['W1', 'case 056'],
    fault: 'What a runner that was replaced writes late is folded behind what its successor wrote.',
    file: LEGALITY,
    find: `if (e.fence < s.fence)`,
    replace: `if (e.fence < 0)`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "an event head > 'W1: a lower fence is refused'",
        says: "expected null to be 'W1'",
      },
    ],
  },
  {
    id: 'newer-format-accepted',
    rules: ['L6'],
    fault: 'A log of a newer format is read by an older version, which misses what it does not know.',
    file: LEGALITY,
    find: `e.format > FORMAT`,
    replace: `e.format > FORMAT + 1`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "session.created > 'L6: in a newer format is refused'",
        says: "expected null to be 'L6'",
      },
    ],
  },
  {
    id: 'unknown-event-refused',
    rules: ['L6'],
    fault: 'An event of a plugin, or of a newer minor version, makes the whole session unreadable.',
    file: LEGALITY,
    find: `return rule === undefined ? null : rule(s, e)`,
    replace: `return rule === undefined ? no('L6', e.type) : rule(s, e)`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "an event head > 'an unknown type is legal'",
        says: "expected 'L6' to be null",
      },
    ],
  },
  {
    id: 'older-reply-accepted',
    rules: ['W1', 'T10', 'case 056'],
    fault: 'The reply to a request of a runner that is gone is taken for the reply to the one that is asked now.',
    file: LEGALITY,
    find: `step.request.fence === e.fence ? null : no(`,
    replace: `step.request.fence <= e.fence ? null : no(`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "reply.completed > 'W1: of a runner that is gone is refus…'",
        says: "expected null to be 'W1'",
      },
    ],
  },
  {
    id: 'other-attempt-accepted',
    rules: ['T10', 'case 077'],
    fault: 'The answer of an attempt that was given up counts as that of the next one.',
    file: LEGALITY,
    find: `if (step.request === null || step.request.attempt !== e.attempt)`,
    replace: `if (step.request === null)`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "reply.completed > 'T10: of another attempt is refused'",
        says: "expected null to be 'T10'",
      },
    ],
  },
  {
    id: 'decision-in-any-status',
    rules: ['A2', 'case 060'],
    fault:
      'An approval that comes after its call has ended, or runs, is accepted: what was refused runs, what ran is asked again.',
    file: LEGALITY,
    find: `onCall(s, e.call, ['asked'], 'A2')`,
    replace: `onCall(s, e.call, ['requested', 'asked', 'approved', 'refused', 'started', 'ended'], 'A2')`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.approval-decided > 'A2: after its end is refused'",
        says: "expected null to be 'A2'",
      },
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.approval-decided > 'A2: a second time is refused'",
        says: "expected null to be 'A2'",
      },
    ],
  },
  {
    id: 'other-arguments-run',
    rules: ['A2', 'case 087'],
    fault: 'What runs is not what was approved.',
    file: LEGALITY,
    find: `return no('A2', 'what runs is not what was approved')`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.started > 'A2: an approved call with other argum…'",
        says: "expected null to be 'A2'",
      },
    ],
  },
  {
    id: 'write-legal-twice',
    rules: ['C4', 'case 061'],
    fault: 'A loop that starts a write again after a crash is not stopped by the fold.',
    file: LEGALITY,
    find: `if (call.record.effect === 'write') return`,
    replace: `if (call.record.effect === 'write' && e.fence <= call.fence) return`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.started > 'C4: a write again is refused'",
        says: "expected null to be 'C4'",
      },
    ],
  },
  {
    id: 'cut-call-runs',
    rules: ['C8', 'case 045'],
    fault: 'A call of a reply that was cut at the output limit runs.',
    file: LEGALITY,
    find: `step.reply.finish !== 'calls' && step.reply.finish !== 'done'`,
    replace: `step.reply.finish === 'refused'`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.started > 'C8: of a cut reply is refused'",
        says: "expected null to be 'C8'",
      },
    ],
  },
  {
    id: 'input-between-call-and-result',
    rules: ['I4', 'C2', 'case 013'],
    fault:
      'A steer enters while a call is open, and stands between the call and its result: providers refuse the session for good.',
    file: LEGALITY,
    find: `if (s.step !== null && !isUnasked(s.step)) return no('I4'`,
    replace: `if (s.step !== null && s.step.request !== null) return no('I4'`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "input.entered > 'I4: between a call and its result is …'",
        says: "expected null to be 'I4'",
      },
    ],
  },
  {
    id: 'input-enters-twice',
    rules: ['I1', 'I6', 'case 011'],
    fault: 'One message of the user stands in the context twice.',
    file: LEGALITY,
    find: `if (s.settled.has(e.input)) return no('I1'`,
    replace: `if (s.turn === null) return no('I1'`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "input.entered > 'I1: a second time is refused'",
        says: "expected null to be 'I1'",
      },
    ],
  },
  {
    id: 'control-taken-twice',
    rules: ['I6', 'I13', 'case 011'],
    fault: 'A decision or a late result that was taken once is taken again: a second fact settles the same input.',
    file: LEGALITY,
    find: `return s.settled.has(input) ? no('I6'`,
    replace: `return s.created === null ? no('I6'`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "turn.abort-asked > 'I6: by a settled input is refused'",
        says: "expected null to be 'I6'",
      },
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.approval-decided > 'I6: by a settled input is refused'",
        says: "expected null to be 'I6'",
      },
    ],
  },
  {
    id: 'step-over-the-limit',
    rules: ['T4', 'case 042'],
    fault: 'The fold lets one step more begin than the limit says.',
    file: LEGALITY,
    find: `return turn.steps >= turn.limits.steps ? no('T4', \`more than`,
    replace: `return turn.steps > turn.limits.steps ? no('T4', \`more than`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "step.started > 'T4: beyond the limit is refused'",
        says: "expected null to be 'T4'",
      },
    ],
  },
  {
    id: 'turn-ends-over-open-calls',
    rules: ['C12', 'case 001'],
    fault: 'A turn ends while a call is open: its result never comes, and the history is poisoned.',
    file: LEGALITY,
    find: `if (s.step !== null) return no('C12', 'a step is open')`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "turn.ended > 'C12: with an open step is refused'",
        says: "expected null to be 'C12'",
      },
    ],
  },
  {
    id: 'compaction-cuts-a-pair',
    rules: ['X3', 'case 030'],
    fault: 'A compaction takes a call and leaves its result.',
    file: LEGALITY,
    find: `if (s.context[e.upTo]?.role === 'tool')`,
    replace: `if (s.context[e.upTo - 1]?.role === 'tool')`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "context.compacted > 'X3: between a call and its result is …'",
        says: "expected null to be 'X3'",
      },
    ],
  },
  {
    id: 'compaction-grows',
    rules: ['X3', 'case 032'],
    fault: 'A summary that is longer than what it replaces is taken, step after step.',
    file: LEGALITY,
    find: `return size < replaced ? null`,
    replace: `return size < Infinity ? null`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "context.compacted > 'X3: that does not shrink is refused'",
        says: "expected null to be 'X3'",
      },
    ],
  },
  {
    id: 'compaction-drops-directives',
    rules: ['X4', 'X2', 'case 036'],
    fault: 'What the user just asked is folded into the summary before anybody answered it.',
    file: CONTEXT,
    find: `.filter((message) => directives.has(message))`,
    replace: `.filter((message) => !directives.has(message) && directives.has(message))`,
    caughtBy: [
      {
        test: 'src/kernel/context.test.ts',
        name: 'a compaction > X4: keeps the running turn’s opening request and its steers, verbatim, behind the summary',
        says: 'user \\"only B\\"',
      },
    ],
  },
  {
    id: 'results-in-completion-order',
    rules: ['C2', 'case 007'],
    fault: 'Results stand in the order in which they came: strict providers refuse every later request.',
    file: CONTEXT,
    find: `for (const call of calls) { push(state, {`,
    replace: `for (const call of calls.toSorted((one, other) => one.seq - other.seq)) { push(state, {`,
    caughtBy: [scenario('parallel_results_in_request_order', 'transcript-invalid')],
  },
  {
    id: 'arguments-serialised-again',
    rules: ['L2', 'case 082'],
    fault: 'The arguments of earlier calls go back in other bytes than the model wrote, and it imitates them.',
    file: CONTEXT,
    find: `'{}' : record.rawArgs`,
    replace: `'{}' : JSON.stringify(record.args)`,
    caughtBy: [scenario('arguments_go_back_as_they_were', 'look({"b":1,"a":2})')],
  },
  {
    id: 'broken-arguments-go-back',
    rules: ['C8', 'case 046'],
    fault: 'Half of a JSON text goes back as the arguments of a call: every later request is refused.',
    file: CONTEXT,
    find: `record.args === undefined || isBlankArgs(`,
    replace: `isBlankArgs(`,
    caughtBy: [
      {
        test: 'src/kernel/context.test.ts',
        name: 'a finished step > C8, cases 046, 079: shows unreadable and blank arguments as none; the log has the very text',
        says: "to deeply equal [ '{}', '{}' ]",
      },
    ],
  },
  {
    id: 'failed-reply-stays-in-context',
    rules: ['T3', 'T9', 'case 037'],
    fault: 'A reply of nothing but reasoning stands in the context as an empty assistant message.',
    file: CONTEXT,
    find: `if (!parts.some((part) => part.type !== 'reasoning')) return null`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/kernel/context.test.ts',
        name: 'a finished step > T9: leaves nothing if the model neither spoke nor called, whatever it thought',
        says: 'assistant \\"\\"',
      },
    ],
  },
  {
    id: 'sticky-outcome-overwritten',
    rules: ['T3', 'case 044'],
    fault: 'A turn whose answer was cut is called completed because a later step went well.',
    file: FOLD,
    find: `if (e.finish === 'calls' || e.finish === 'done') return`,
    replace: `if (e.finish === 'calls' || e.finish === 'done') return void (turn.sticky = null)`,
    caughtBy: [scenario('max_tokens_is_sticky', '+ 1.2 turn.ended completed')],
  },
  {
    id: 'vetoes-reset-by-progress',
    rules: ['T5', 'case 042'],
    fault: 'Each tool call that a vetoed model makes sets the count of vetoes back to zero: the turn never ends.',
    file: FOLD,
    find: `projectStep(s, step) rememberStep(turn, step)`,
    replace: `projectStep(s, step); rememberStep(turn, step); if (step.calls.length > 0) turn.vetoes = 0`,
    caughtBy: [scenario('veto_capped', '- held after veto-capped{3}')],
  },
  {
    id: 'veto-resets-the-steps',
    rules: ['T4', 'case 042'],
    fault: 'A veto gives the turn all its steps again.',
    file: FOLD,
    find: `s.turn!.vetoes++`,
    replace: `s.turn!.vetoes++; s.turn!.steps = 0`,
    caughtBy: [scenario('vetoes_do_not_reset_the_step_limit', '+ 1.1 step.started')],
  },
  {
    id: 'late-outcome-inside-a-step',
    rules: ['C5', 'I4', 'case 060'],
    fault: 'Late news of one call enters the context while another is open, between that call and its result.',
    file: FOLD,
    find: `s.stragglers.delete(e.call) s.late.push(`,
    replace: `s.stragglers.delete(e.call); s.context.push(`,
    caughtBy: [
      {
        test: 'src/kernel/context.test.ts',
        name: 'what waits for a gate > C5 I4: a late outcome never comes between a call and its result',
        says: `to not include 'user "it happened"'`,
      },
    ],
  },
  {
    id: 'late-outcome-overwrites',
    rules: ['C5', 'C2', 'case 060'],
    fault: 'The late end of a call takes the place of the outcome that the model was told.',
    file: FOLD,
    find: `s.stragglers.delete(e.call) s.late.push(`,
    replace: `{ const told = s.step?.byId.get(e.call); if (told !== undefined) { told.outcome = e.outcome; told.content = e.content } }
      s.stragglers.delete(e.call); s.late.push(`,
    caughtBy: [scenario('late_outcome_in_the_same_step', '+ tool t1s1c1 ok')],
  },
  {
    id: 'late-outcome-twice',
    rules: ['C5', 'case 060'],
    fault: 'The late end of one call is told twice.',
    file: FOLD,
    find: `s.stragglers.delete(e.call) s.late.push(`,
    replace: `s.late.push(`,
    caughtBy: [
      {
        test: 'src/kernel/legality.test.ts',
        name: "call.ended-late > 'C5: a second time is refused'",
        says: "expected null to be 'C5'",
      },
    ],
  },
  {
    id: 'failed-attempts-cost-nothing',
    rules: ['B1', 'case 071'],
    fault: 'The tokens of attempts that failed are not counted.',
    file: FOLD,
    find: `'model.failed'(s, e) { closeRequest(s, e.usage)`,
    replace: `'model.failed'(s, e) { s.step!.request = null`,
    caughtBy: [scenario('usage_of_failed_attempts_counts', '"output":25')],
  },
  {
    id: 'grant-leaks-to-another-question',
    rules: ['A2', 'case 086'],
    fault: 'An "always" for one question of a tool answers every other question of it.',
    file: 'src/kernel/state.ts',
    find: 'return `${tool}\\n${question}`',
    replace: 'return `${tool}\\n${question === tool}`',
    caughtBy: [scenario('grant_answers_one_question_only', '- 2.1 call.approval-asked t2s1c1')],
  },
  {
    id: 'grant-leaks-to-another-session',
    rules: ['A2', 'case 086'],
    fault: 'An "always" that was given in one session holds in every session of the process.',
    file: FOLD,
    find: `grants: new Set(),`,
    replace: `grants: ((globalThis as { leak?: Set<string> }).leak ??= new Set<string>()),`,
    caughtBy: [
      {
        test: 'test/cases/approvals.test.ts',
        name: 'what a question and its answer are bound to > A2, case 086: an "always" of one session answers nothing in another',
        says: "to deeply equal [ 't1s1c1' ]",
      },
    ],
  },
  {
    id: 'conflicting-calls-overlap',
    rules: ['C6'],
    fault: 'Two calls that write the same file run at once.',
    file: 'src/kernel/plan.ts',
    find: `if (a.mode === 'read' && b.mode === 'read') continue`,
    replace: `if (a.mode === 'read' || b.mode === 'read' || a.name !== '*') continue`,
    caughtBy: [scenario('conflicting_calls_keep_model_order', '+ 1.1 call.started t1s1c2 #1')],
  },
  {
    id: 'pool-unbounded',
    rules: ['C6'],
    fault: 'A reply with a hundred calls runs a hundred at once.',
    file: 'src/kernel/plan.ts',
    find: `if (start.length >= free) break`,
    replace: ``,
    caughtBy: [scenario('pool_is_bounded', '+ 1.1 call.started t1s1c3 #1')],
  },
  {
    id: 'straggler-ignored',
    rules: ['C6'],
    fault: 'A call starts beside a body of an earlier call that still writes what it needs.',
    file: 'src/kernel/plan.ts',
    find: `if (held.some(`,
    replace: `if (held.every((all) => all.length < 0) && held.some(`,
    caughtBy: [scenario('straggler_holds_its_resources', '+ ~ save t1s2c1 {"n":2}')],
  },
  {
    id: 'guard-blind-to-periods',
    rules: ['T6', 'case 039'],
    fault: 'A model that goes A, B, A, B is never stopped.',
    file: 'src/kernel/guard.ts',
    find: `const PERIOD_MAX = 3`,
    replace: `const PERIOD_MAX = 1`,
    caughtBy: [scenario('loop_guard_period_two', '- 1.6 call.ended t1s6c1 intercepted{3}')],
  },
  {
    id: 'guard-counts-what-never-ran',
    rules: ['T6'],
    fault: 'Calls that timed out, or were denied, count as attempts: a retry that was asked for is refused.',
    file: 'src/kernel/guard.ts',
    find: `case 'invalid': return false`,
    replace: `case 'invalid': return true`,
    caughtBy: [
      { test: 'src/kernel/guard.test.ts', name: "an attempt > T6: 'timeout'", says: 'expected true to be false' },
    ],
  },
  {
    id: 'snapshot-forgets-the-settled',
    rules: ['I1', 'L3'],
    fault: 'After a restart from a snapshot an input that was entered before enters again.',
    file: 'src/kernel/snapshot.ts',
    find: `settled: new Set(settled),`,
    replace: `settled: new Set(settled.slice(settled.length)),`,
    caughtBy: [
      {
        test: 'src/kernel/snapshot.test.ts',
        name: 'a snapshot > L3: gives back calls by id, and directives as the very messages of the context',
        says: '"settled": Set {}',
      },
    ],
  },
]
