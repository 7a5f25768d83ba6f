/** `turnstep torture`: kills somebody's agent at every moment there is, and reports what that costs. */
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { TurnstepError } from '../../kernel/errors.ts'
import { usage, type Cli } from '../cli.ts'
import { EXITS } from '../io.ts'
import { isMoment } from '../torture/moments.ts'
import { printReport, reportOf } from '../torture/report.ts'
import { torture as runTorture, UndisturbedFailed, type Tortured, type TortureOrder } from '../torture/torture.ts'

export interface TortureFlags {
  readonly message?: readonly string[]
  readonly steer?: readonly string[]
  readonly script?: string
  readonly ownModel?: boolean
  readonly check?: string
  readonly approve?: string
  readonly answer?: string
  readonly kills?: string
  readonly seed?: string
  readonly jobs?: string
  readonly only?: readonly string[]
  readonly twice?: boolean
  readonly timeout?: string
  readonly keep?: boolean
}

/** Exit 0 if every run passed and at least one was hit, 1 otherwise; 3 if the agent does not run by itself. */
export async function torture(cli: Cli, module: string, flags: TortureFlags): Promise<number> {
  const { io, out } = cli
  const startedAt = io.clock.now()
  // By its real path: what runs there sees that one.
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'turnstep-torture-')))
  const stop = new AbortController()
  let exit: number | null = null
  const off = io.onStop((signal) => {
    if (exit !== null) io.exit(EXITS[signal])
    exit = EXITS[signal]
    stop.abort()
  })
  let isKept = flags.keep === true
  try {
    const order = orderOf(cli, module, flags, root)
    const tortured = await run(cli, order, stop.signal)
    if (exit !== null) return exit
    const commandFor = (moment: string): string => again(io.argv, moment)
    const report = reportOf(cli, tortured, { order, module, commandFor, ms: io.clock.now() - startedAt })
    isKept ||= report.results.some(({ folder }) => folder !== null)
    printReport(cli, report)
    out.line({ type: 'torture', ...report })
    return report.exit
  } catch (error) {
    if (exit !== null) return exit
    throw error
  } finally {
    off()
    if (!isKept) rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  }
}

function orderOf(cli: Cli, module: string, flags: TortureFlags, root: string): TortureOrder {
  const { texts } = cli
  for (const moment of flags.only ?? []) if (!isMoment(moment)) throw usage(texts.torture.badMoment(moment))
  const count = (flag: 'kills' | 'seed' | 'jobs' | 'timeout'): number | null => countOf(cli, flag, flags[flag])
  return {
    settings: {
      module: fileAt(cli, module),
      script: flags.script === undefined ? null : fileAt(cli, flags.script),
      ownModel: flags.ownModel === true,
      check: flags.check === undefined ? null : fileAt(cli, flags.check),
      messages: flags.message ?? [],
      steers: flags.steer ?? [],
      approve: flags.approve !== 'no',
      answer: flags.answer ?? 'Done.',
      locale: cli.locale,
      limitMs: 1_000 * (count('timeout') ?? TIMEOUT_S),
    },
    root,
    seed: count('seed') ?? 1,
    jobs: count('jobs') ?? availableParallelism(),
    kills: count('kills'),
    only: [...new Set(flags.only)],
    twice: flags.twice === true,
    keep: flags.keep === true,
  }
}

const TIMEOUT_S = 60

function fileAt({ io, texts }: Cli, path: string): string {
  const file = resolve(io.cwd, path)
  if (!existsSync(file) || !statSync(file).isFile()) throw usage(texts.torture.noFile(file))
  return realpathSync(file)
}

function countOf({ texts }: Cli, flag: string, text: string | undefined): number | null {
  if (text === undefined) return null
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usage(texts.torture.badCount(`--${flag}`, text))
  return Number(text)
}

async function run(cli: Cli, order: TortureOrder, signal: AbortSignal): Promise<Tortured> {
  const { io, out, texts } = cli
  const { stderr } = io
  const isShown = stderr.isTTY === true && !out.json && !out.quiet
  if (isShown) stderr.write(texts.torture.first)
  try {
    return await runTorture(order, {
      clock: io.clock,
      signal,
      progress({ runs, of, failed, moment }) {
        if (isShown) stderr.write(`${CLEAR_LINE}${texts.torture.progress(runs, of, failed, moment)}`)
      },
    })
  } catch (error) {
    if (!(error instanceof UndisturbedFailed)) throw error
    const { failed, printed } = texts.torture
    const what = error.how === 'late' ? failed.late(order.settings.limitMs / 1_000) : failed.ended
    throw new TurnstepError('config-invalid', error.message === '' ? what : `${what}. ${printed(error.message)}`)
  } finally {
    if (isShown) stderr.write(CLEAR_LINE)
  }
}

const CLEAR_LINE = '\r\u001B[K'

/** What was typed, for one moment alone. Which moments are taken, and how many at once, has no part in it. */
function again(argv: readonly string[], moment: string): string {
  const kept: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const [name = ''] = argv[at]!.split('=')
    if (CHOOSING.includes(name)) at += argv[at]!.includes('=') ? 0 : 1
    else if (!PRESENTING.includes(name)) kept.push(argv[at]!)
  }
  return ['turnstep', ...kept, '--only', moment].map(quotedForShell).join(' ')
}

const CHOOSING: readonly string[] = ['--only', '--kills', '--seed', '--jobs']
const PRESENTING: readonly string[] = ['--twice', '--json', '--quiet', '-q']

function quotedForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
