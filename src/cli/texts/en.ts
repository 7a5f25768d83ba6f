/** What the command line says, in English. The Chinese catalog has the same keys, or it does not compile. */
import type { TurnOutcome } from '../../kernel/outcome.ts'

type Limit = Extract<TurnOutcome, { kind: 'step-limit' }>

export const en = {
  about: 'Run agents that can be steered, stopped and resumed: every session is durable.',
  heads: { usage: 'Usage:', arguments: 'Arguments:', options: 'Options:', commands: 'Commands:' },
  exits: [
    'Exit codes:',
    '  0    done',
    '  1    the turn ended otherwise than well, or a log is damaged',
    '  2    usage: an unknown option, session or id',
    '  3    configuration or key',
    '  4    the model or its provider failed',
    '  5    step limit or budget',
    '  6    suspended: it waits for an approval or an answer',
    '  75   busy: somebody else drives the session, or the store cannot be written now; try again',
    '  130, 143   stopped by a signal',
  ].join('\n'),
  commands: {
    run: 'give a session a task, show its work, print its answer',
    chat: 'talk to a session; a line typed while it works is a steer',
    send: 'queue a message for the next turn',
    steer: 'correct the running turn at its next gate',
    note: 'add a message at the next gate; wakes nobody',
    abort: 'stop the running turn',
    approve: 'let a call run that waits for approval',
    deny: 'refuse a call that waits for approval',
    answer: 'give the result that a call waits for',
    queue: 'list what waits, or change it: edit, drop, up, convert',
    session: 'look after sessions',
    ls: 'list them, newest first',
    show: 'show one: its state and what was said',
    tail: 'print its events',
    export: 'write its log as JSON lines',
    import: 'read an exported log into a new session',
    rm: 'delete one for good',
    verify: 'check the stored bytes and every rule of the logs',
    doctor: 'check this machine',
    paths: 'print where things are kept',
    demo: 'see it work, without a key',
    help: 'show the help of a command',
  },
  args: {
    prompt: 'what to do; "-" reads it from stdin',
    message: 'the text; "-" reads it from stdin',
    ask: 'the call, or its number in the list; may be left out if only one waits',
    reason: 'why, for the model',
    session: 'the name of a session',
    file: 'an exported log; "-" reads stdin',
    action: 'list, edit, drop, up or convert',
    input: 'an id, or a number in the list',
    words: 'the new text, or the lane: followup, steer or note',
  },
  options: {
    help: 'show help',
    version: 'print the version',
    model: 'the model, as provider/model',
    session: 'the session; made if it is new',
    sessionOf: 'the session; default: the latest',
    continue: 'the latest session',
    resume: 'go on with what is owed or held',
    yes: 'run shell commands without asking',
    yesRm: 'do not ask',
    maxSteps: 'steps per turn',
    cwd: 'the folder to work in; default: this one',
    store: 'the file of the store',
    lang: 'en or zh',
    json: 'JSON lines on stdout',
    quiet: 'only results, questions and errors',
    wait: 'until it is settled, and the turn it entered has ended',
    waitRun: 'stay while the session waits for answers',
    now: 'also give up a model call that has shown nothing yet',
    reason: 'why, for the log',
    pending: 'what becomes of the queue: keep, return or drop',
    always: 'this tool need not ask again in this session',
    error: 'the result is a failure',
    limit: 'at most so many',
    follow: 'go on as events come',
    out: 'a file instead of stdout',
    online: 'also try to reach the provider',
  },

  error: (code: string, message: string) => `error [${code}] ${message}`,
  /** What to do about a code, where the message is in another language. */
  advice: (_code: string): string | null => null,
  internal: (message: string) => `error [internal] ${message}\nThis is a fault of turnstep's own: please report it.`,
  usageHint: (command: string) => `\`${command} --help\` shows what there is`,

  offline: (variable: string) =>
    `no key found: this is the built-in script, not a model; it lists the folder. Set ${variable} or another provider's key, then run again.`,
  noModel: (variable: string, provider: string) =>
    `${variable} is set, but no model is named: pass -m ${provider}/MODEL, or set TURNSTEP_MODEL or \`model\` in the config file`,
  started: (session: string, model: string) => `session ${session} · ${model}`,
  steps: (text: string) => `--max-steps is "${text}"; give a whole number from 1 up`,
  limit: (text: string) => `--limit is "${text}"; give a whole number from 1 up`,
  lang: (text: string) => `the language is "${text}"; there are en and zh`,
  noCwd: (path: string) => `there is no folder "${path}"; give another --cwd`,
  noPrompt: 'say what to do: `turnstep run "…"`, or `--resume` to go on with what is owed',
  promptAndResume: 'a task and --resume exclude each other: `--resume` goes on with what is there; leave one out',
  twoSessions: '--session and --continue exclude each other; leave one out',
  noSessionYet: 'there is no session yet; `turnstep run "…"` makes one',
  nothingOwed: 'nothing to go on with: the session is idle',
  emptyStdin: 'stdin is empty: there is no text to send',

  entered: (lane: string, step: number, text: string) => `${lane} entered at step ${step}: ${text}`,
  rejected: (lane: string, reason: string) => `${lane} rejected: ${reason}`,
  lanes: { steer: 'steer', followup: 'message', note: 'note', control: 'request' },
  retry: (kind: string, message: string, attempt: number, ms: number) =>
    `model call failed (${kind}): ${message} Attempt ${attempt} in ${(ms / 1000).toFixed(1)} s.`,
  voided: 'what was shown of this reply is void; it is tried again',
  brokeOff: 'the last reply broke off when its process died; it is asked again',
  recovered: (call: string, outcome: string) => `${call} had been started before: ${outcome}`,
  damaged: (from: number, reason: string) =>
    `the log was damaged from event ${from} on (${reason}); that part is set aside, the rest goes on`,
  vetoed: (by: string) => `${by} keeps the turn going`,
  compacted: 'the context was compacted',

  outcome: {
    'max-tokens': (limit: 'output' | 'context') =>
      limit === 'output' ? 'the reply was cut at its output limit' : 'the context is full',
    'step-limit': (steps: number, how: Limit['how'], failure: string | undefined) =>
      how === 'summary'
        ? `stopped at ${steps} steps; what is printed sums up how far it got`
        : `stopped at ${steps} steps${failure === undefined ? '' : ` (the summary failed: ${failure})`}; say how to go on`,
    budget: (reason: string) => `stopped by the budget: ${reason}`,
    blocked: (reason: string) => `blocked: ${reason}`,
    refused: (reason: string) => `the model refused: ${reason}`,
    stuck: (tool: string, times: number) => `stuck: the same ${tool} call ${times} times without progress`,
    'veto-capped': (vetoes: number) => `ended after ${vetoes} vetoes: a hook was never satisfied`,
    aborted: (reason: string) => `aborted: ${reason}`,
    error: (kind: string, message: string) => `the model call failed (${kind}): ${message}`,
  },
  held: (pending: number, session: string) =>
    `the queue is held with ${pending} waiting: send something, or \`turnstep run -s ${session} --resume\``,
  busy: (session: string) =>
    `you can reach it: \`turnstep steer -s ${session} "…"\` corrects it, \`turnstep send -s ${session} "…"\` queues, \`turnstep session tail -s ${session} -f\` watches`,
  parked: (session: string) => `parked; \`turnstep run -s ${session} --resume\` goes on`,
  aborting: 'stopping the turn; once more to leave at once',

  asking: {
    approval: (n: number, call: string, tool: string, args: string, reason: string) =>
      `[${n}] ${tool} ${args}\n    ${reason} (${call})`,
    deferred: (n: number, call: string, tool: string, reason: string) =>
      `[${n}] ${tool} waits for an answer: ${reason} (${call})`,
    'step-limit': (n: number, call: string, reason: string) => `[${n}] go on after ${reason}? (${call})`,
  },
  waiting: (count: number) => (count === 1 ? 'it waits for one answer:' : `it waits for ${count} answers:`),
  howToAnswer: (session: string) =>
    `\`turnstep approve -s ${session}\` or \`turnstep deny -s ${session}\`, then \`turnstep run -s ${session} --resume\``,
  noAsk: (session: string) => `nothing waits for an answer in session "${session}"`,
  noSuchAsk: (ask: string, open: string) =>
    `no open question "${ask}"; open: ${open === '' ? 'none' : open}`,
  severalAsks: (count: number) => `${count} questions are open: name one of them`,
  notAnApproval: (call: string) => `${call} waits for a result, not for a yes or a no: use \`answer\``,
  notAnAnswer: (call: string) => `${call} waits for a yes or a no: use \`approve\` or \`deny\``,

  posted: (lane: string, input: string) => `${lane} is in the queue (${input})`,
  drivenBy: (owner: string) => `${owner} drives the session and will see it`,
  drivenByNobody: (session: string) =>
    `nobody drives the session now: \`turnstep run -s ${session} --resume\` takes it up`,
  state: {
    queued: 'still in the queue',
    entered: (turn: number, step: number) => `entered in turn ${turn}, step ${step}`,
    taken: 'taken',
    rejected: (reason: string) => `rejected: ${reason}`,
    stale: 'it had no object any more (stale)',
    withdrawn: 'withdrawn',
    expired: 'expired',
  },

  queue: {
    empty: 'the queue is empty',
    item: (n: number, lane: string, text: string, id: string) => `[${n}] ${lane}: ${text}  (${id})`,
    none: (which: string) => `nothing in the queue is "${which}"; \`queue\` lists what is there`,
    edited: 'changed',
    dropped: 'withdrawn',
    moved: 'moved up',
    first: 'it is the first already',
    converted: (lane: string) => `is a ${lane} now`,
    action: (text: string) => `there is no \`queue ${text}\`; there are list, edit, drop, up and convert`,
    which: 'say which: an id, or a number in the list',
    text: 'say the new text',
    lane: (text: string) => `"${text}" is no lane; there are followup, steer and note`,
  },

  sessions: {
    none: 'no sessions yet',
    running: (owner: string) => `driven by ${owner}`,
    left: 'its driver died; --resume takes it up',
    resting: 'at rest',
    counts: (events: number, pending: number) => `${events} events${pending === 0 ? '' : `, ${pending} waiting`}`,
    removed: (session: string) => `session ${session} is deleted`,
    askRemove: (session: string, events: number) => `delete session ${session} with ${events} events for good? [y/N] `,
    kept: 'nothing was deleted',
    needsYes: (session: string) => `deleting session "${session}" needs a yes: pass --yes`,
    exported: (events: number, where: string) => `${events} events written to ${where}`,
    pendingNotExported: (count: number) => `${count} waiting inputs are not part of a log and were left out`,
    exportDamaged: (from: number, reason: string) =>
      `the log cannot be read from event ${from} on (${reason}): only what stands before it was written`,
    imported: (session: string, events: number) => `session ${session}: ${events} events imported`,
    state: { idle: 'idle', held: 'held', running: 'running', waiting: 'waiting' },
    usage: (input: number, cached: number, output: number) =>
      `${input} tokens in (${cached} cached), ${output} out`,
  },
  importing: {
    empty: 'the file is empty; the first line must be the header that `session export` writes',
    header: (line: string) => `line 1 is no header of an exported log: ${line}`,
    json: (line: number, problem: string) => `line ${line} is no JSON: ${problem}`,
    event: (line: number) => `line ${line} is no event: it needs type, seq, at, fence, turn and step`,
    rule: (line: number, type: string, rule: string, problem: string) =>
      `line ${line} (${type}) breaks ${rule}: ${problem}`,
    count: (promised: number, found: number) => `the header promises ${promised} events, the file has ${found}`,
    exists: (session: string) => `session "${session}" exists; give another name with -s`,
    large: (bytes: number) => `the file has ${bytes} bytes; at most 256 MB can be imported at once`,
    unreadable: (path: string, why: string) => `cannot read "${path}": ${why}`,
    unwritable: (path: string, why: string) => `cannot write "${path}": ${why}`,
  },
  verify: {
    ok: (session: string, events: number) => `${session}: ${events} events, all well`,
    damaged: (session: string, from: number, reason: string) =>
      `${session}: damaged from event ${from} on: ${reason}; opening it for work sets that part aside`,
    broken: (session: string, seq: number, rule: string, problem: string) =>
      `${session}: event ${seq} breaks ${rule}: ${problem}`,
    none: 'no sessions to verify',
  },
  doctor: {
    marks: { ok: 'ok', note: 'note', failed: 'FAILED' },
    node: (version: string, wanted: string) => `${version}; wanted: ${wanted}`,
    home: (path: string) => `${path} can be written`,
    disk: (megabytes: number) => `${megabytes} MB free`,
    noDisk: 'the free space cannot be told here',
    keys: (names: string) => `set: ${names}`,
    noKeys: 'none set: the built-in script is used',
    found: (path: string) => path,
    notFound: 'not found',
    noRg: 'not found: searching is done in JavaScript, slower',
    noBwrap: 'not found: shell commands are not sandboxed, they ask first',
    config: (path: string) => path,
    noConfig: 'none',
    model: (name: string) => name,
    online: (ms: number) => `answered after ${ms} ms`,
    onlineSkipped: 'not tried; --online tries',
    onlineNothing: 'no provider is chosen',
  },
  config: {
    notAnObject: (path: string) => `${path} must export an object as its default`,
    unreadable: (path: string, why: string) => `${path} cannot be loaded: ${why}`,
    unknownKey: (path: string, key: string, known: string) => `${path}: there is no key "${key}"; there are ${known}`,
    badValue: (path: string, key: string, value: string, wanted: string) =>
      `${path}: \`${key}\` is ${value}; it must be ${wanted}`,
    typescript: (path: string, version: string) =>
      `${path}: Node ${version} cannot run TypeScript (22.18 and newer can); rename it to .js or .json, or use a newer Node`,
    two: (paths: string) => `two config files: ${paths}; keep one`,
  },

  chat: {
    hello: 'a line starts a turn; while it works, a line is a steer. /help lists the commands',
    help: [
      '/next TEXT          queue a message for the next turn',
      '/stop               abort the running turn',
      '/queue              list what waits; edit N TEXT, drop N, up N',
      '/approve [N] [always]   let a call run; y does it if only one waits',
      '/deny [N] [REASON]      refuse it; n does it if only one waits',
      '/answer [N] TEXT    give the result that a call waits for',
      '/resume             let a held queue go on',
      '/status             what the session does now',
      '/quit               leave; what runs is parked and goes on at the next start',
    ].join('\n'),
    unknown: (command: string) => `there is no ${command}; /help lists the commands`,
    steered: 'steer queued; it enters at the next gate',
    next: (count: number) => `queued for the next turn (${count} waiting)`,
    waits: 'it waits until the question is answered',
    notWorking: 'nothing is running',
    resting: (state: string) => `${state}`,
    running: (turn: number, step: number) => `running: turn ${turn}, step ${step}`,
    prompt: '> ',
  },
}

export type Texts = typeof en
