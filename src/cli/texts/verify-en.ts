/** What `verify` says, in English. */

export const verifyEn = {
  ok: (name: string, events: number, skipped: number) => `${name}: ${events} events, all well${unknown(skipped)}`,
  legal: (name: string, events: number, skipped: number) =>
    `${name}: ${events} events, every one legal${unknown(skipped)}; a file is not protected against edits of what they say`,
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
    encoding: ({ isPacked }: Seen) => `${isPacked ? 'unpack it' : 'save it as UTF-8'}, and verify it again`,
    store: () => '`turnstep verify --store FILE` checks the sessions in it',
    json: reread,
    blank: () => 'take the empty line out, if nothing is missing there; else export the session again',
    cut: reread,
    long: () => 'look whether this is a log at all',
    header: () => 'take out what stands there that is no event, or export the session again',
    newer: () => 'update turnstep',
    count: ({ events }: Seen) =>
      `the file is not whole, or was changed: export the session again; ${events} events are sound`,
    shape: rewrite,
    rule: rewrite,
    damaged: ({ events }: Seen) =>
      `opening it for work sets that part aside and goes on after event ${events}; \`session export\` saves what stands before it`,
  },
  none: 'no sessions to verify',
  folder: (path: string) => `"${path}" is a folder: name a file in it, or leave the name out to verify the sessions`,
  noFile: (path: string) =>
    `there is no file "${path}": look at its path, or write one with \`turnstep session export SESSION -o FILE\``,
}

/** What is known where something is wrong. */
export interface Seen {
  /** Sound ones, before it. */
  readonly events: number
  /** A file, not the log of a session. */
  readonly isFile: boolean
  readonly isPacked: boolean
}

/** Where in a log something is wrong. */
export interface Where {
  readonly line: number | null
  readonly seq: number
  readonly type: string | null
}

function unknown(skipped: number): string {
  return skipped === 0 ? '' : `; ${skipped} of them are of types that are not known here and were skipped`
}

function reread({ events }: Seen): string {
  return `the file was cut off or edited: export or copy it again${before(events)}`
}

function rewrite({ events, isFile }: Seen): string {
  return isFile
    ? `most likely the file was edited or lost lines: export it again; if it is the same then, whoever wrote this event has a fault: report it with the log${before(events)}`
    : `whoever wrote this event has a fault: report it with the log${before(events)}`
}

function before(events: number): string {
  return events === 0 ? '' : `; the ${events} events before it are sound`
}
