/** Faults of the wire: what goes to a provider, and what is read of its answer. */
import type { Mutant } from '../mutant.ts'

const ENCODE = 'src/models/chat/encode.ts'
const DECODE = 'src/models/chat/decode.ts'

export const MODELS: readonly Mutant[] = [
  {
    id: 'state-to-a-foreign-route',
    rules: ['X7', 'case 027'],
    fault: 'Opaque reasoning of one provider is sent to another, which refuses the session for good.',
    file: ENCODE,
    find: `replay === undefined || !sameRoute(replay.route, this.#options.route)`,
    replace: `replay === undefined`,
    caughtBy: [
      {
        test: 'src/models/chat/encode.test.ts',
        name: 'messages > X7: state of another provider is foreign',
        says: "expected { role: 'assistant', content: 'own' }",
      },
    ],
  },
  {
    id: 'state-to-another-account',
    rules: ['X7'],
    fault: 'Opaque reasoning of one account is sent under another.',
    file: 'src/models/route.ts',
    find: `one.wire === other.wire && one.scope === other.scope`,
    replace: `one.wire === other.wire`,
    caughtBy: [
      {
        test: 'src/models/chat/encode.test.ts',
        name: 'messages > X7: state of another scope is foreign',
        says: "expected { role: 'assistant', content: 'own' }",
      },
    ],
  },
  {
    id: 'reasoning-serialised-again',
    rules: ['X7', 'L2', 'case 024'],
    fault: 'Opaque reasoning goes back in other bytes than it came: its signature no longer fits.',
    file: ENCODE,
    find: `return replay.state return wellFormedJson({`,
    replace: `return JSON.stringify(said.message, Object.keys(said.message).toSorted()); return wellFormedJson({`,
    caughtBy: [
      {
        test: 'src/models/chat/encode.test.ts',
        name: 'messages > X7: give the own state back byte for byte',
        says: 'to contain',
      },
    ],
  },
  {
    id: 'lone-surrogates-let-through',
    rules: ['X8', 'case 098'],
    fault: 'Half of an emoji is sent: a strict parser refuses every later request.',
    file: 'src/util/wellformed.ts',
    find: `return json.includes('\\\\ud') ? json.replace(ESCAPE, replaceLone) : json`,
    replace: `return json`,
    caughtBy: [
      {
        test: 'src/models/chat/encode.test.ts',
        name: 'messages > X8, case 098: are well-formed, strings and keys alike, while the log keeps the original',
        says: 'not to match',
      },
    ],
  },
  {
    id: 'prefix-not-kept',
    rules: ['X1', 'case 105'],
    fault: 'What may differ between requests stands before the messages: nothing of a request is cached.',
    file: ENCODE,
    find: 'return `${head},"messages":[${this.#messages(request)}],${tail}`',
    replace: 'return `${head},${tail.slice(0, -1)},"messages":[${this.#messages(request)}]}`',
    caughtBy: [
      {
        test: 'src/models/chat/encode.test.ts',
        name: 'the body > has tools, and names what differs between requests behind the messages',
        says: "to deeply equal [ 'model', 'tools', 'messages'",
      },
    ],
  },
  {
    id: 'illegal-id-goes-back',
    rules: ['C1', 'case 101', 'case 102'],
    fault: 'The call id of one provider is sent to the next, which refuses it.',
    file: 'src/models/wire-ids.ts',
    find: `this.#legal.test(own) && !this.#used.has(own)`,
    replace: `!this.#used.has(own)`,
    caughtBy: [
      {
        test: 'src/models/wire-ids.test.ts',
        name: 'C1: ids on the wire > case 101: keep a legal id of the provider and map every other',
        says: "expected 'Write:6' to match",
      },
    ],
  },
  {
    id: 'one-id-for-two-calls',
    rules: ['C1', 'case 102'],
    fault: 'A provider that counts from zero in each reply gets two calls with one id.',
    file: 'src/models/wire-ids.ts',
    find: `this.#legal.test(own) && !this.#used.has(own)`,
    replace: `this.#legal.test(own)`,
    caughtBy: [
      {
        test: 'src/models/wire-ids.test.ts',
        name: 'C1: ids on the wire > case 102: keep the first of equal ids',
        says: 'call_t2s1c1_2',
      },
    ],
  },
  {
    id: 'missing-finish-is-completed',
    rules: ['T3', 'case 075'],
    fault: 'A connection that broke off in the middle of an answer counts as its end.',
    file: DECODE,
    find: `if (this.#finish === null) return failed(noFinish)`,
    replace: `this.#finish ??= 'stop'`,
    caughtBy: [
      {
        test: 'src/models/chat/decode.test.ts',
        name: 'a stream that stops without a finish reason > T3, case 075: after a whole call was cut off, and is no reply',
        says: "to match object { kind: 'error'",
      },
    ],
  },
  {
    id: 'unknown-finish-is-completed',
    rules: ['T3', 'C8', 'case 075'],
    fault: 'A finish reason that nobody knows counts as a good end.',
    file: 'src/models/chat/finish.ts',
    find: `MEANING[raw] ?? 'unknown-stop'`,
    replace: `MEANING[raw] ?? 'done'`,
    caughtBy: [
      {
        test: 'src/models/chat/contract.test.ts',
        name: 'chat, generic: one terminal > ends once, and nothing comes after it: an unknown word',
        says: "expected 'done' to be 'unknown-stop'",
      },
    ],
  },
  {
    id: 'two-calls-glued',
    rules: ['C8', 'case 074'],
    fault: 'Two calls that came under one index become one, with arguments that are no JSON.',
    file: 'src/models/chat/calls.ts',
    find: `if (!startsOver(here, entry)) return here`,
    replace: `if (here.index >= 0) return here`,
    caughtBy: [
      {
        test: 'src/models/chat/calls.test.ts',
        name: 'case 074: calls from careless streams > (iii) the same index, two whole objects, no ids',
        says: '{"x":1}{"x":2}',
      },
    ],
  },
  {
    id: 'torn-characters',
    rules: ['X8', 'case 073'],
    fault: 'A character that the network cut in two becomes two replacement marks.',
    file: 'src/models/sse.ts',
    find: `decoder.decode(bytes, { stream: true })`,
    replace: `decoder.decode(bytes)`,
    caughtBy: [
      {
        test: 'src/models/sse.test.ts',
        name: 'case 073: events do not depend on how the bytes are cut > at every offset',
        says: 'cut at 29',
      },
    ],
  },
  {
    id: 'cached-tokens-counted-twice',
    rules: ['B1', 'case 069'],
    fault: 'Tokens read from the cache are charged beside the input that they are part of.',
    file: 'src/models/chat/usage.ts',
    find: `const total = cacheRead > input ? input + cacheRead : input`,
    replace: `const total = input + cacheRead`,
    caughtBy: [
      {
        test: 'src/models/chat/usage.test.ts',
        name: 'B1: usage of one response > case 069: cached tokens are part of the input once: OpenAI',
        says: 'input: 1800',
      },
    ],
  },
  {
    id: 'usage-added-within-a-reply',
    rules: ['B1', 'case 068'],
    fault: 'A provider that repeats its counts in each piece is charged for each piece.',
    file: 'src/models/chat/usage.ts',
    find: `this.#seen.set(prefix + key, value)`,
    replace: `this.#seen.set(prefix + key, value + (this.#seen.get(prefix + key) ?? 0))`,
    caughtBy: [
      {
        test: 'src/models/chat/usage.test.ts',
        name: 'B1: usage of one response > case 068: the last value of each field wins',
        says: 'input: 200',
      },
    ],
  },
  {
    id: 'silent-stream-waits-for-ever',
    rules: ['T7', 'case 019'],
    fault: 'A stream that opens and says nothing more is waited for for ever.',
    file: 'src/models/watch.ts',
    find: `this.#clock.after(limit.leftMs, () => this.#end(limit.cut))`,
    replace: `this.#clock.after(limit.leftMs, () => {})`,
    caughtBy: [
      {
        test: 'src/models/watch.test.ts',
        name: 'waits > case 019: a limit ends a wait that nothing else ends',
        says: 'expected [] to deeply equal',
      },
    ],
  },
  {
    id: 'secret-in-a-failure',
    rules: [],
    fault: 'An endpoint that echoes the key brings it into the log, the screen and the model.',
    file: 'src/models/secrets.ts',
    find: `if (this.#pieces.has(text.slice(at, at + PIECE))) covered.fill(1, at, at + PIECE)`,
    replace: `if (this.#pieces.has(text)) covered.fill(1, at, at + PIECE)`,
    caughtBy: [{ test: 'src/models/secrets.test.ts', name: 'what is hidden > a key', says: "to be 'bad key ***.'" }],
  },
]
