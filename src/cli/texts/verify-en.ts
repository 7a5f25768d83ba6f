/** What `verify` says, in English. */

export const verifyEn = {
  ok: (name: string, events: number, skipped: number) =>
    `${name}: ${events} events, all well${skipped === 0 ? '' : `; ${skipped} of them are of types that are not known here and were skipped`}`,
  damaged: (name: string, from: number, reason: string) => `${name}: damaged from event ${from} on: ${reason}`,
  broken: (name: string, where: string, rule: string, problem: string) =>
    `${name}: ${where} breaks ${rule}: ${problem}`,
  where: ({ line, seq, type }: Where) => {
    const event = `event ${seq}${type === null ? '' : `, ${type}`}`
    return line === null ? event : `line ${line} (${event})`
  },
  more: (wanted: string, next: string) => `  wanted: ${wanted}\n  next: ${next}`,
  wanted: {
    empty: 'lines of JSON: a header or session.created first',
    encoding: 'UTF-8 text without a byte order mark, not packed',
    store: 'lines of JSON, as `session export` writes them',
    json: 'one JSON object in each line',
    blank: 'one JSON object in each line; empty lines stand only at the end',
    cut: 'a last line that is whole',
    long: 'lines of at most 64 MB',
    header: 'one header, in the first line, as `session export` writes it',
    newer: 'a format that this version reads',
    count: 'as many events as the header promises',
    shape: 'the fields of this event as spec/schema has them',
    damaged: 'the bytes that were written',
  },
  next: {
    empty: () => 'look whether this is the file that was meant; export the session again',
    encoding: () => 'unpack it, or save it as plain UTF-8, and verify it again',
    store: () => '`turnstep verify --store FILE` checks the sessions in it',
    json: reread,
    blank: () => 'take the empty line out, if nothing is missing there; else export the session again',
    cut: reread,
    long: () => 'look whether this is a log at all',
    header: () => 'take out what stands there that is no event, or export the session again',
    newer: () => 'update turnstep',
    count: (events: number) =>
      `the file is not whole, or was changed: export the session again; ${events} events are sound`,
    shape: rewrite,
    rule: rewrite,
    damaged: (events: number) =>
      `opening it for work sets that part aside and goes on after event ${events}; \`session export\` saves what stands before it`,
  },
  none: 'no sessions to verify',
}

/** Where in a log something is wrong. */
export interface Where {
  readonly line: number | null
  readonly seq: number
  readonly type: string | null
}

function reread(events: number): string {
  return `export or copy it again${before(events)}`
}

function rewrite(events: number): string {
  return `whoever wrote this event has a fault: report it with the log${before(events)}`
}

function before(events: number): string {
  return events === 0 ? '' : `; the ${events} events before it are sound`
}
