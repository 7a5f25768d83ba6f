/** What `torture` says, in English. */
import type { TortureComplaint } from '../../protocol/torture.ts'

type Of<Kind extends TortureComplaint['kind']> = Extract<TortureComplaint, { kind: Kind }>

export type ComplaintTexts = { readonly [Kind in TortureComplaint['kind']]: (complaint: Of<Kind>) => string }

/** Node's names for what keeps a process alive. */
const HANDLES: Readonly<Record<string, string>> = {
  Timeout: 'timer',
  Immediate: 'immediate',
  ProcessWrap: 'child process',
  TCPServerWrap: 'server',
  PipeServerWrap: 'server on a pipe',
  FSEventWrap: 'file watcher',
  StatWatcher: 'file watcher',
  UDPWrap: 'UDP socket',
}

const complaint: ComplaintTexts = {
  doubled: ({ tool, call, times }) => `${tool} (${call}) is a write and ran ${times} times`,
  'key-changed': ({ tool, call, keys }) => `${tool} (${call}) was given different keys: ${keys.join(', ')}`,
  unrecorded: ({ tool, call }) => `${tool} (${call}) ran and its start is not in the log`,
  'input-lost': ({ input }) => `${input} was accepted and is lost`,
  'input-doubled': ({ input, times }) => `${input} entered ${times} times`,
  'input-waiting': ({ input, lane }) => `${input} (${lane}) still waits though nothing is left to do`,
  'log-damaged': ({ seq, problem }) => `the log is damaged from event ${seq} on: ${problem}`,
  'rule-broken': ({ seq, rule, problem }) => `event ${seq} breaks ${rule}: ${problem}`,
  'request-broken': ({ seq, at, problem }) =>
    `the request of event ${seq} is one that no provider takes: message ${at}: ${problem}`,
  'not-at-rest': ({ status }) =>
    status === 'late' ? 'the session did not come to rest in time' : `the session did not come to rest: ${status}`,
  'not-resumed': ({ process, problem }) => `process ${process} could not go on: ${problem}`,
  fault: ({ process, problem }) => `process ${process} reported a fault: ${problem}`,
  'call-changed': ({ tool, call, was, is }) => `${tool} (${call}) ended ${is}; undisturbed it ends ${was}`,
  'turn-changed': ({ turn, was, is }) => `turn ${turn} ended ${is}; undisturbed it ends ${was}`,
  'story-changed': ({ was, is }) => `the run went another way: "${is}", undisturbed "${was}"`,
  'agent-changed': ({ gone, added, altered, instructions }) =>
    [
      'the agent is another one after the restart:',
      ...(gone.length > 0 ? [`without ${gone.join(', ')};`] : []),
      ...(added.length > 0 ? [`with ${added.join(', ')};`] : []),
      ...(altered.length > 0 ? [`altered: ${altered.join(', ')};`] : []),
      ...(instructions ? ['other system text'] : []),
    ]
      .join(' ')
      .replace(/[;:]$/, ''),
  'lease-left': ({ owner }) => `${owner} still holds the session`,
  'body-left': ({ tool, call }) => `${tool} (${call}) was told to stop, and was still at work when all else was closed`,
  'handle-left': ({ handle, count }) => `left open in the process: ${count} × ${HANDLES[handle] ?? handle}`,
  'process-left': ({ pid, command }) => `process ${pid} outlived the run: ${command}`,
  'file-left': ({ path }) => `${path} is there, and is not after an undisturbed run`,
  'opened-on-load': ({ path }) =>
    `the module drives a session while it loads (${path}): every process does so again, and that session is not looked at; export the agent from a module that opens none`,
  'never-ran': ({ tool, why }) =>
    why === 'not-called'
      ? `${tool} was not called, so it was not tried: give a --script that calls it`
      : `${tool} never ran (${why}), so it was not tried: give a --script with arguments that it takes`,
  check: ({ text }) => text,
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

export const tortureEn = {
  message: 'Use each of your tools once, then say what came of it.',
  noAgent: (path: string): string =>
    `${path} exports no agent: \`export default agent({ … })\`, or a function that makes one`,
  noModel: (path: string) => `${path}: the agent has no model of its own; leave --own-model out`,
  badMessages: (path: string) => `${path}: \`messages\` is no list of texts`,
  badScript: (path: string) => `${path} is no script: give a list of steps, a function, or a model`,
  noCheck: (path: string) => `${path} exports no check: \`export default (run) => []\``,
  unreadable: (path: string, why: string) => `${path} cannot be loaded: ${why}`,
  doesTooMuch: (path: string, code: string) =>
    `${path} opens a session or makes a model while it loads, and cannot here (${code}). Torture brings both and calls no real model: export the agent, its model by name, from a module that opens nothing`,
  typescript: (path: string, version: string) =>
    `${path}: Node ${version} cannot run TypeScript (22.18 and newer can); compile it and give the .js file, or use a newer Node`,
  noFile: (path: string) => `there is no file "${path}"`,
  badMoment: (text: string) =>
    `"${text}" is no moment; they look like after-append/3, inside/TOOL/1, or two of them joined by +`,
  badCount: (flag: string, text: string) => `${flag} is "${text}"; give a whole number from 1 up`,
  failed: {
    late: (seconds: number): string =>
      `the agent did not come to rest within ${seconds} s, undisturbed; give more time with --timeout, or a shorter --script`,
    ended: 'the process of the agent ended by itself, undisturbed',
  },
  printed: (text: string) => `It printed:\n${text}`,

  agent: (module: string, name: string, tools: number, model: string) =>
    `${module}: agent ${name}, ${counted(tools, 'tool')}, ${model}`,
  models: {
    default: 'the built-in script calls each once',
    script: 'answers come from a script',
    own: 'its own model answers',
  },
  undisturbed: (turns: string, steps: number, calls: number, moments: number) =>
    `undisturbed: ${turns}; ${counted(steps, 'step')}, ${counted(calls, 'call')}, ${counted(moments, 'moment')}`,
  notAlike:
    'two undisturbed runs differ: the agent is not deterministic, so runs are not compared with them, only judged by themselves',
  first: 'undisturbed first',
  progress: (runs: number, of: number, failed: number, moment: string) =>
    `${runs}/${of}${failed === 0 ? '' : ` · ${failed} failed`} · ${moment}`,
  columns: { moment: 'killed at', runs: 'runs', passed: 'passed', failed: 'failed', missed: 'missed' },
  rows: {
    'before-append': 'before a commit',
    'after-append': 'after a commit',
    'before-put': 'before an input is accepted',
    'after-put': 'after an input was accepted',
    'after-claim': 'with inputs claimed',
    'before-model': 'before a model call',
    'model-output': 'amid a reply',
    'before-body': 'before bodies run',
    'after-body': 'with a result in hand',
    'before-hook': 'before a hook',
    'before-release': 'before the lease is let go',
    'after-release': 'after the lease was let go',
  } as Readonly<Record<string, string>>,
  inTool: (tool: string) => `in ${tool}`,
  twice: (row: string) => `${row}, and again`,
  verdicts: { passed: 'passed', failed: 'FAILED', missed: 'missed' },
  note: (text: string) => `note: ${text}`,
  hit: (moment: string, event: string, seq: number) => `${moment}: the log stood at event ${seq}, ${event}`,
  nothing: 'an empty log',
  missed: (moments: string) => `did not come, so they prove nothing: ${moments}`,
  alsoAt: (moments: string) => `the same at ${moments}`,
  again: (command: string) => `again: ${command}`,
  kept: (folder: string) => `kept:  ${folder}`,
  summary: (
    totals: { readonly passed: number; readonly failed: number; readonly missed: number },
    kills: number,
    s: string,
  ) => `${totals.passed} passed, ${totals.failed} failed, ${totals.missed} missed; ${counted(kills, 'kill')} in ${s} s`,
  nothingHit: 'nothing was hit, so nothing is proved',
  complaint,
}
