/** Faults of calls: judging, starting, ending, and what outlives its call. */
import { scenario, type Mutant } from '../mutant.ts'

const POOL = 'src/runtime/runner/call-pool.ts'
const JUDGE = 'src/runtime/runner/judge.ts'
const SETTLE = 'src/runtime/runner/settle.ts'
const LEASE = 'src/runtime/runner/lease.ts'

export const CALLS: readonly Mutant[] = [
  {
    id: 'body-before-its-start-is-durable',
    rules: ['C3', 'case 061'],
    fault: 'A write runs before the log says so: after a crash it is taken for one that never started, and runs again.',
    file: POOL,
    find: `const flushing = journal.flush()`,
    replace: `const flushing = undefined`,
    caughtBy: [
      {
        test: 'test/crash/sync-points.test.ts',
        name: 'a process that dies > I2 C3 C4 W4: at every before-append is taken over without loss',
        says: 'C3: the body of t1s1c1 ran under fence 1 without a durable start',
      },
    ],
  },
  {
    id: 'body-without-a-lease',
    rules: ['W1', 'W2', 'case 093'],
    fault: 'A body begins although the lease ran out on the way from the commit to it.',
    file: POOL,
    find: `&& this.#run.holdsLease()`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/runtime/runner/call-pool.test.ts',
        name: 'a body > W1 W2: does not begin on a machine that slept between its start and now, and lost its lease',
        says: "tool: 'save'",
      },
    ],
  },
  {
    id: 'timeout-not-enforced',
    rules: ['C13'],
    fault: 'A body that ignores its signal keeps its call open for ever.',
    file: POOL,
    find: `if (this.#leave(body)) this.#run.journal.record({ type: 'call.ended', call: body.call.record.id, outcome`,
    replace: `if (body.timeoutMs < 0) this.#run.journal.record({ type: 'call.ended', call: body.call.record.id, outcome`,
    caughtBy: [scenario('timeout_is_enforced', '- 1.1 call.ended t1s1c1 timeout')],
  },
  {
    id: 'late-end-is-lost',
    rules: ['C5', 'T7', 'case 060'],
    fault: 'What a body did after its call was closed is never heard of.',
    file: POOL,
    find: `if (body.straggling !== null) this.#arriveLate(body, end)`,
    replace: `if (body.straggling !== null) body.straggling()`,
    caughtBy: [scenario('late_outcome_is_news', '- 1.2 call.ended-late t1s1c1 ok')],
  },
  {
    id: 'straggler-holds-nothing',
    rules: ['C6'],
    fault: 'A body that outlives its call no longer keeps others from what it is writing.',
    file: POOL,
    find: `body.straggling ??= this.#stragglers.add(body.call.record.resources)`,
    replace: `body.straggling ??= this.#stragglers.add([])`,
    caughtBy: [scenario('straggler_holds_its_resources', '+ ~ save t1s2c1 {"n":2}')],
  },
  {
    id: 'throw-of-an-aborted-body-is-a-failure',
    rules: ['C2', 'T7'],
    fault: 'A body that obeyed the abort is told as one that failed.',
    file: POOL,
    find: `!scope.aborted || told === 'timeout'`,
    replace: `told !== 'runner'`,
    caughtBy: [scenario('obeying_tool_ends_as_aborted', '+ 1.1 call.ended t1s1c1 error{failed}')],
  },
  {
    id: 'allow-beats-deny',
    rules: ['A1', 'case 083'],
    fault: 'One policy that allows opens what another one denies.',
    file: JUDGE,
    find: `STRENGTH[other.kind] > STRENGTH[one.kind]`,
    replace: `STRENGTH[other.kind] < STRENGTH[one.kind]`,
    caughtBy: [scenario('deny_beats_ask_beats_allow', '- 1.1 call.ended t1s1c2 denied{policy}')],
  },
  {
    id: 'broken-policy-opens-the-door',
    rules: ['A1'],
    fault: 'A policy that throws lets the call through.',
    file: JUDGE,
    find: `(error) => void (verdict = stronger(verdict, { kind: 'deny', reason: error.message }))`,
    replace: `() => {}`,
    caughtBy: [scenario('failing_hook_is_reported_and_has_no_say', '+ 2.1 call.started t2s1c1 #1')],
  },
  {
    id: 'grant-beats-deny',
    rules: ['A1', 'A2', 'case 086'],
    fault: 'An "always" of the user beats a denial.',
    file: JUDGE,
    find: `if (verdict.kind === 'deny') {
      this`,
    replace: `if (verdict.kind === 'deny' && this.#run.state.grants.size === 0) {
      this`,
    caughtBy: [scenario('grant_holds_though_a_policy_asks', '- 3.1 call.ended t3s1c1 denied{policy}')],
  },
  {
    id: 'asked-about-other-arguments',
    rules: ['A2', 'case 087'],
    fault: 'A person is asked about the arguments of the model, and the call runs with those of a plugin.',
    file: JUDGE,
    find: `canonicalJson(rewritten ?? call.record.args)`,
    replace: `canonicalJson(call.record.args)`,
    caughtBy: [
      {
        test: 'test/cases/approvals.test.ts',
        name: 'what a question and its answer are bound to > A2: the hash of a question is that of the arguments it shows, a plugin having replaced those of the model',
        says: 'to be',
      },
    ],
  },
  {
    id: 'asked-before-it-was-rewritten',
    rules: ['A1', 'A2', 'case 087'],
    fault: 'A plugin makes of a small payment a big one, and nobody is asked: the small one needed no yes.',
    file: JUDGE,
    find: `const own = tool.approval(args)`,
    replace: `const own = tool.approval(record.args)`,
    caughtBy: [
      {
        test: 'test/cases/approvals.test.ts',
        name: 'what a question and its answer are bound to > A1 A2: a tool is asked about what a plugin made of its call: a person about big payments, and nobody about small ones',
        says: 'call.approval-asked',
      },
    ],
  },
  {
    id: 'approved-call-runs-as-the-model-wrote-it',
    rules: ['A2', 'case 087'],
    fault: 'After an approval the call runs with the arguments that a plugin had replaced.',
    file: JUDGE,
    find: `this.#check(call, call.args ?? null)`,
    replace: `this.#check(call, null)`,
    caughtBy: [scenario('rewritten_arguments_are_what_is_asked_about', '+ ~ save t1s1c1 {"path":"a"}')],
  },
  {
    id: 'judging-goes-on-after-control',
    rules: ['T7', 'I13'],
    fault: 'Questions are asked, and denials given, in a turn that was aborted meanwhile.',
    file: JUDGE,
    find: `done === 'control' ? undefined : this.judge(ids, at + 1)`,
    replace: `this.judge(ids, at + 1)`,
    caughtBy: [
      {
        test: 'test/cases/approvals.test.ts',
        name: 'what a question and its answer are bound to > T7 I13: once an abort has come no further call is judged: what was not asked yet is not started',
        says: "to deeply equal [ 'slow' ]",
      },
    ],
  },
  {
    id: 'unknown-told-as-failed',
    rules: ['C4', 'case 060'],
    fault: 'A write that a crash cut off is told as failed: the model does it again.',
    file: SETTLE,
    find: `return { kind: 'unknown', reason: 'crashed' }`,
    replace: `return { kind: 'error', code: 'crashed', message: 'the process died' }`,
    caughtBy: [scenario('write_is_not_rerun_after_crash', '+ 1.1 call.ended t1s1c1 error{crashed}')],
  },
  {
    id: 'aborted-told-as-not-started',
    rules: ['C2', 'C12', 'case 001'],
    fault: 'A write that was cut off by an abort is told as one that never began.',
    file: SETTLE,
    find: `? { kind: 'unknown', reason: 'aborted' }`,
    replace: `? { kind: 'error', code: 'aborted', message: 'aborted' }`,
    caughtBy: [scenario('abort_settles_calls_as_unknown_after_grace', '+ 1.1 call.ended t1s1c1 error{aborted}')],
  },
  {
    id: 'reconcile-not-asked',
    rules: ['C4'],
    fault: 'A tool that could say what became of its write is not asked.',
    file: SETTLE,
    find: `as === 'recover' ? await reconcile(run, call) : null`,
    replace: `null`,
    caughtBy: [scenario('reconcile_finds_the_outcome', '+ 1.1 call.ended t1s1c1 unknown{crashed}')],
  },
  {
    id: 'lease-kept-without-renewal',
    rules: ['W2', 'case 093'],
    fault: 'A runner that cannot renew goes on until its lease is over, and beyond: two runners act at once.',
    file: LEASE,
    find: `>= this.#deadline(this.#expiresAt)`,
    replace: `>= this.#deadline(this.#expiresAt) + 1e9`,
    caughtBy: [scenario('lost_lease_stops_the_runner', '- ! stopped: this runner stops working on session')],
  },
  {
    id: 'no-margin-before-the-lease-ends',
    rules: ['W2', 'case 093'],
    fault: 'A runner stops at the very moment at which another may begin: what it started just before still runs.',
    file: LEASE,
    find: `expiresAt - this.#options.leaseTtlMs * MARGIN_SHARE`,
    replace: `expiresAt`,
    caughtBy: [
      {
        test: 'src/runtime/runner/lease.test.ts',
        name: 'a lease > W2, case 093: that cannot be renewed counts as lost before another can take it',
        says: "to match object [ { code: 'lease-lost'",
      },
    ],
  },
]
