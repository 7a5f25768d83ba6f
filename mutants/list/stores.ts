/** Faults of the stores: what is checked in the transaction of an append, and what a damaged file gives back. */
import type { Mutant } from '../mutant.ts'

const MEMORY = 'src/stores/memory/session.ts'
const LOG = 'src/stores/sqlite/log.ts'
const SCAN = 'src/stores/sqlite/scan.ts'
const SNAPSHOTS = 'src/stores/sqlite/snapshots.ts'
const LEASES = 'src/stores/sqlite/leases.ts'
const INBOX = 'src/stores/sqlite/inbox.ts'

export const STORES: readonly Mutant[] = [
  {
    id: 'gap-taken-by-the-store',
    rules: ['L1', 'case 055'],
    fault: 'Events that do not continue the log are written: every later load meets a hole.',
    file: 'src/stores/rules.ts',
    find: `event.seq === seq && event.fence === append.fence`,
    replace: `event.fence === append.fence`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > append and read > L1: refuses events that are not dense, or written under another fence, as a bug',
        says: 'instead of rejecting',
      },
    ],
  },
  {
    id: 'lease-checked-by-name',
    rules: ['W1', 'case 056', 'case 090'],
    fault: 'Whoever drove a session once may write to it again: a runner that was replaced writes over its successor.',
    file: 'src/stores/sqlite/row.ts',
    find: `row.holder !== null && row.fence === fence`,
    replace: `row.holder !== null`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > leases > W1, case 056: every lease has a higher fence, and a late writer is refused',
        says: "to deeply equal { kind: 'fenced' }",
      },
    ],
  },
  {
    id: 'fence-not-checked-on-append',
    rules: ['W1', 'L1', 'case 056'],
    fault: 'The usual append of a runner that was replaced is taken.',
    file: LOG,
    find: `where session = ? and fence = ? and holder`,
    replace: `where session = ? and fence >= ? and holder`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > leases > W1: after a release nothing can be written under its fence',
        says: "to deeply equal { kind: 'fenced' }",
      },
    ],
  },
  {
    id: 'fence-not-checked-in-memory',
    rules: ['W1', 'case 056'],
    fault: 'The same of a store in memory: two harnesses that share it write over each other.',
    file: MEMORY,
    find: `this.lease !== null && this.fence === fence`,
    replace: `this.lease !== null`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > leases > W1, case 056: every lease has a higher fence, and a late writer is refused',
        says: "to deeply equal { kind: 'fenced' }",
      },
    ],
  },
  {
    id: 'tail-not-compared',
    rules: ['L1', 'case 090'],
    fault: 'Two writers give out the same seq: every later load fails.',
    file: LOG,
    find: `if (row.tail !== request.tail) return`,
    replace: `if (row.tail < request.tail) return`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > append and read > L1, case 090: of two writers on one tail exactly one wins',
        says: "[ 'appended', 'appended' ]",
      },
    ],
  },
  {
    id: 'tail-not-compared-in-memory',
    rules: ['L1', 'case 090'],
    fault: 'The same of a store in memory.',
    file: MEMORY,
    find: `if (tail !== this.tail) return`,
    replace: `if (tail > this.tail) return`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > append and read > L1, case 090: of two writers on one tail exactly one wins',
        says: "[ 'appended', 'appended' ]",
      },
    ],
  },
  {
    id: 'append-not-conditional',
    rules: ['I5', 'I4', 'case 014'],
    fault: 'An append that is to be refused while a steer waits is taken.',
    file: LOG,
    find: `?? refuseIfPending(this.#db, row.sid, request, now)`,
    replace: `?? null`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > claiming > I5: refuses an append while a named lane has input, after what it consumes itself',
        says: "to deeply equal { kind: 'pending', lanes: [ 'steer' ] }",
      },
    ],
  },
  {
    id: 'append-not-conditional-in-memory',
    rules: ['I5', 'I4', 'case 014'],
    fault: 'The same of a store in memory.',
    file: MEMORY,
    find: `if (left.length > 0) return`,
    replace: `if (left.length > 4) return`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > claiming > I5: refuses an append while a named lane has input, after what it consumes itself',
        says: "to deeply equal { kind: 'pending', lanes: [ 'steer' ] }",
      },
    ],
  },
  {
    id: 'input-consumed-twice',
    rules: ['I2', 'I6', 'case 012'],
    fault: 'An input that was withdrawn after it was read is claimed all the same.',
    file: LOG,
    find: 'and version = ? and state is null`,',
    replace: 'and version = ?`,',
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > claiming > I2: claims inputs in the commit that carries them, and settles their receipts once',
        says: "to deeply equal { kind: 'gone', inputs: [ 'i1' ] }",
      },
    ],
  },
  {
    id: 'edit-not-compared',
    rules: ['I7', 'I2'],
    fault: 'A message that was edited after it was read enters as it was before.',
    file: LOG,
    find: 'and version = ? and state is null`,',
    replace: 'and version >= ? and state is null`,',
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > claiming > I7: an input that was edited between reading and claiming is gone in the old version',
        says: "to match object { kind: 'gone' }",
      },
    ],
  },
  {
    id: 'edit-not-compared-in-memory',
    rules: ['I7', 'I2'],
    fault: 'The same of a store in memory.',
    file: MEMORY,
    find: `?.input?.version === claim.version`,
    replace: `?.input !== null`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > claiming > I7: an input that was edited between reading and claiming is gone in the old version',
        says: "to match object { kind: 'gone' }",
      },
    ],
  },
  {
    id: 'same-id-is-two-inputs',
    rules: ['I1'],
    fault: 'A client that sends again because it heard no answer is heard twice.',
    file: MEMORY,
    find: `if (known !== undefined) return`,
    replace: `if (known?.input != null) return`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > put > I1: the same id twice is one input, also after it was settled',
        says: "expected { kind: 'queued' } to deeply equal { kind: 'duplicate'",
      },
    ],
  },
  {
    id: 'timed-input-never-told',
    rules: ['W3', 'I1'],
    fault: 'An input that waits for its time is not told of when that has come.',
    file: MEMORY,
    find: `if (cameDue && entry.revision <= since.revision) pending.push(entry.input!)`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > what changed in the queue > tells of an input with a time of its own when that has come, also if it was changed before',
        says: '-     "id": "later"',
      },
    ],
  },
  {
    id: 'withdrawal-not-told',
    rules: ['I7', 'I6'],
    fault: 'Whoever keeps a copy of the queue is not told of what was withdrawn, and claims it again and again.',
    file: MEMORY,
    find: `if (entry.input === null) gone.push(entry.id)`,
    replace: `if (entry.input === null) continue`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > what changed in the queue > I2: a claim that was refused changes nothing, one that was made is gone',
        says: '-     "b"',
      },
    ],
  },
  {
    id: 'withdrawn-after-its-claim',
    rules: ['I6', 'I7'],
    fault: 'A message that the model has read can still be withdrawn, and its receipt says so.',
    file: INBOX,
    find: `if (input.state !== null) return`,
    replace: `if (input.state === '') return`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > the queue > I7: withdraws, and an input withdrawn cannot be changed any more',
        says: "expected { kind: 'changed' } to deeply equal { kind: 'settled'",
      },
    ],
  },
  {
    id: 'released-while-due',
    rules: ['W3', 'case 062'],
    fault: 'A lease is let go although an input has just come: nobody is told again.',
    file: LEASES,
    find: `if (this.#inbox.isWoken(row.sid, wake, now)) return`,
    replace: `if (now < 0) return`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > release and due > W3: a release is refused if something in its wake lanes has come, and the lease is kept',
        says: "expected { kind: 'released' } to deeply equal { kind: 'due' }",
      },
    ],
  },
  {
    id: 'released-while-due-in-memory',
    rules: ['W3', 'case 062'],
    fault: 'The same of a store in memory.',
    file: MEMORY,
    find: `if (this.#isWoken(wake, now)) return`,
    replace: `if (now < 0) return`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > release and due > W3: a release is refused if something in its wake lanes has come, and the lease is kept',
        says: "expected { kind: 'released' } to deeply equal { kind: 'due' }",
      },
    ],
  },
  {
    id: 'held-queue-wakes-itself',
    rules: ['W3', 'I9'],
    fault: 'A held queue makes its session due again and again: the process spins.',
    file: MEMORY,
    find: `input!.lane === 'control' || input!.tail >= since`,
    replace: `input!.tail >= 0`,
    caughtBy: [
      {
        test: 'src/stores/memory/memory.test.ts',
        name: 'the store contract: memory > release and due > I9: with `since`, what was kept from before wakes nobody; what comes later, and any control, does',
        says: "expected { kind: 'due' } to deeply equal { kind: 'released' }",
      },
    ],
  },
  {
    id: 'crashed-session-is-not-due',
    rules: ['W3', 'W4'],
    fault: 'A session whose driver died waits until somebody writes to it.',
    file: LEASES,
    find: `return [...resting, ...left].map(`,
    replace: `return [...resting, ...left.slice(left.length)].map(`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > leases > W4: what its dead driver owed is due at once, and taken over once',
        says: "expected [] to deeply equal [ 's' ]",
      },
    ],
  },
  {
    id: 'second-driver-let-in',
    rules: ['L4', 'W1', 'case 090'],
    fault: 'A second process drives a session that the first one is driving.',
    file: LEASES,
    find: `if (row.holder === null || !this.#presence.isAlive(row.holder)) return null`,
    replace: `if (row.holder === null || row.owner !== null) return null`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/store.test.ts',
        name: 'the store contract: sqlite over libsql > leases > L4: the second driver is told who drives, and since when',
        says: "to deeply equal { kind: 'busy'",
      },
    ],
  },
  {
    id: 'snapshot-trusted-without-its-hash',
    rules: ['L5', 'case 055'],
    fault: 'A snapshot whose bytes were damaged is the state from which the session goes on.',
    file: SNAPSHOTS,
    find: `if (this.#ids.sha256(body) !== hash) continue`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > L5: a damaged snapshot is passed over, one beyond the valid log is dropped',
        says: `snapshot: '{"seq":7}'`,
      },
    ],
  },
  {
    id: 'snapshot-of-another-log',
    rules: ['L5'],
    fault: 'After a log was mended the session goes on from a snapshot of what was cut off.',
    file: SNAPSHOTS,
    find: `if (anchorOf(this.#db, sid, seq) !== anchor) continue`,
    replace: ``,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > L5: a damaged snapshot is passed over, one beyond the valid log is dropped',
        says: 'expected { seq: 6',
      },
    ],
  },
  {
    id: 'damage-skipped',
    rules: ['L5', 'L7', 'case 055'],
    fault: 'A commit whose bytes were changed on the disk is read as if it were what was written.',
    file: SCAN,
    find: `ids.sha256(head + body) !== hash`,
    replace: `ids.sha256(head + body) === ''`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > L5, L7, case 055: a flipped byte in the middle: reading shows the valid prefix and the damage, opening mends it',
        says: 'to deeply equal { seqs: [ 1, 2 ], tail: 2, from: 3 }',
      },
    ],
  },
  {
    id: 'lost-tail-not-seen',
    rules: ['L5', 'L7', 'case 054'],
    fault: 'The last commits of a log are gone, and the session opens as if they had never been.',
    file: SCAN,
    find: `if (row.tail > tail) return`,
    replace: `if (row.tail > tail) return null; if (row.tail < 0) return`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > L5, L7, case 055: a lost last commit: reading shows the valid prefix and the damage, opening mends it',
        says: 'to deeply equal { seqs: [ 1, 2, 3 ], tail: 3, from: 4 }',
      },
    ],
  },
  {
    id: 'damaged-part-thrown-away',
    rules: ['L5', 'case 054'],
    fault: 'What was cut off a damaged log is deleted, not set aside.',
    file: LOG,
    find: `from commits where sid = ? and (first_seq > ? or last_seq > ?)\``,
    replace: `from commits where sid = ? and (first_seq > ? and last_seq < ?)\``,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > case 054: a last commit cut at every byte: all before it stands, and what follows is appended cleanly',
        says: 'to match object [ { first_seq: 4, last_seq: 6',
      },
    ],
  },
  {
    id: 'lost-inputs-stay-settled',
    rules: ['L5', 'I2', 'case 054'],
    fault: 'A message that entered in the lost part of a log counts as read: nobody answers it.',
    file: LOG,
    find: `const reopened = reopen(db, row, tail)`,
    replace: `const reopened: InputId[] = []`,
    caughtBy: [
      {
        test: 'src/stores/sqlite/damage.test.ts',
        name: 'a damaged log > L5, L7, case 055: a flipped byte in the middle: reading shows the valid prefix and the damage, opening mends it',
        says: "expected [] to deeply equal [ 'i2', 'i3' ]",
      },
    ],
  },
]
