/** `verify`: the stored bytes of every commit, and every rule of the contract that a log can break; of sessions, or of a file. Reads only. */
import { missingSession } from '../../runtime/session/session-handle.ts'
import type { SessionId } from '../../kernel/ids.ts'
import { EventCheck, type Fault } from '../../protocol/log-check.ts'
import type { Store } from '../../runtime/ports.ts'
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { withHarness } from '../open.ts'
import { newestFirst } from '../session-name.ts'
import type { PlaceFlags } from '../settings.ts'
import { RULE_TEXTS } from '../texts/rules.ts'
import { checkFile, fileOf, isFile } from '../verify/file.ts'

/** All sessions, the named one, or the log in a file. Exit 1 if anything is wrong. */
export async function verify(cli: Cli, name: string | undefined, flags: PlaceFlags): Promise<number> {
  const file = name === undefined ? null : fileOf(cli, name)
  return file === null ? verifySessions(cli, name, flags) : verifyFile(cli, file)
}

function verifySessions(cli: Cli, name: string | undefined, flags: PlaceFlags): Promise<number> {
  return withHarness(cli, flags, { mustExist: true }, async ({ store }) => {
    const all = newestFirst(await store.list())
    const rows = name === undefined ? all : all.filter(({ session }) => session === name)
    if (name !== undefined && rows.length === 0) {
      if (isFile(cli, name)) return verifyFile(cli, name)
      throw missingSession(name)
    }
    if (rows.length === 0) cli.out.progress(cli.texts.verify.none, 'plain')
    let exit: number = EXIT.ok
    for (const { session } of rows)
      if (!report(cli, { name: session, session }, await examine(store, session))) exit = EXIT.failed
    return exit
  })
}

async function verifyFile(cli: Cli, file: string): Promise<number> {
  const { header, ...found } = await checkFile(cli, file)
  const session = header === null ? {} : { session: header.session }
  return report(cli, { name: file, file, ...session }, found) ? EXIT.ok : EXIT.failed
}

interface Found {
  /** Sound ones. */
  readonly events: number
  /** How many of them are of a type that is not known here. */
  readonly skipped: number
  readonly fault: (Omit<Fault, 'code'> & { readonly code: Fault['code'] | 'damaged'; readonly line?: number }) | null
}

const CHUNK = 1_000

async function examine(store: Store, session: SessionId): Promise<Found> {
  const damage = await store.verify(session)
  const end = damage === null ? Infinity : damage.from - 1
  const check = new EventCheck()
  while (check.events < end) {
    const limit = Math.min(CHUNK, end - check.events)
    const { events } = await store.read(session, { after: check.events, limit })
    if (events.length === 0) break
    for (const event of events) {
      const fault = check.take(event)
      if (fault !== null) return { events: check.events, skipped: check.skipped, fault }
    }
  }
  const { events, skipped } = check
  if (damage === null) return { events, skipped, fault: null }
  const fault = { code: 'damaged', rule: 'L5', seq: damage.from, type: null, problem: damage.reason } as const
  return { events, skipped, fault }
}

interface Subject {
  /** As it was typed. */
  readonly name: string
  readonly session?: string
  readonly file?: string
}

/** True: all is well. */
function report(cli: Cli, { name, ...subject }: Subject, { events, skipped, fault }: Found): boolean {
  const { out, locale } = cli
  const say = cli.texts.verify
  const more = skipped === 0 ? {} : { skipped }
  if (fault === null) {
    out.line({ type: 'verified', ...subject, ok: true, events, ...more })
    out.result(subject.file === undefined ? say.ok(name, events, skipped) : say.legal(name, events, skipped))
    return true
  }
  const { code, rule, line, seq, type, problem, isPacked = false } = fault
  const wanted = code === 'rule' ? (RULE_TEXTS[rule]?.[locale] ?? `CONTRACT.md, ${rule}`) : say.wanted[code]
  const next = say.next[code]({ events, isFile: subject.file !== undefined, isPacked })
  const place = { ...(line === undefined ? {} : { line }), seq, ...(type === null ? {} : { event: type }) }
  out.line({ type: 'verified', ...subject, ok: false, events, ...more, ...place, code, rule, problem, wanted, next })
  const where = say.where({ line: line ?? null, seq, type })
  out.result(code === 'damaged' ? say.damaged(name, seq, problem) : say.broken(name, where, rule, problem))
  out.result(say.more(wanted, next))
  return false
}
