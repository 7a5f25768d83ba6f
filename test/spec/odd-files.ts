/** Files that are wrong as files or in the shape of an event, and files that look odd and are sound. All are made of one golden log. */
import { nodeIds } from '../../src/host/node.ts'
import { canonicalJson } from '../../src/util/json.ts'
import { readSpec } from './files.ts'

const GOLDEN = 'v1-a_turn_with_a_tool'

type Json = Readonly<Record<string, unknown>>

const lines = (): string[] => readSpec(`golden/${GOLDEN}.jsonl`).trimEnd().split('\n')
const textOf = (all: readonly string[]): string => `${all.join('\n')}\n`
const bytes = (...values: number[]): Buffer => Buffer.from(values)

/** The log with line `n` (from 1) as something else. */
function withLine(n: number, change: (line: string) => string): string {
  return textOf(lines().map((line, at) => (at === n - 1 ? change(line) : line)))
}

/** The log with some fields of line `n` as something else; `undefined` leaves one out. */
function withFields(n: number, fields: Json): string {
  return withLine(n, (line) => JSON.stringify({ ...(JSON.parse(line) as Json), ...fields }))
}

function headed(fields: Json, more: readonly string[] = []): string {
  const header = { type: 'turnstep.log', format: 1, session: 'trip', events: 15, exportedAt: 1_700_000_000_000 }
  return textOf([JSON.stringify({ ...header, ...fields }), ...lines(), ...more])
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

/** What is wrong with a file. The names begin with the rule that is broken. */
export function brokenFiles(): Record<string, string | Buffer> {
  const whole = textOf(lines())
  const cutAt = Buffer.from(withFields(4, { content: [{ type: 'text', text: '多少度？' }] }))
  return {
    'L1-empty': '',
    'L1-blank': '\n\n',
    'L5-bom': Buffer.concat([bytes(0xef, 0xbb, 0xbf), Buffer.from(whole)]),
    'L5-utf16': Buffer.concat([bytes(0xff, 0xfe), Buffer.from(whole.slice(0, 200), 'utf16le')]),
    'L5-gzip': bytes(0x1f, 0x8b, 0x08, 0x00, 0x00, 0x0a, 0xff, 0x00),
    'L5-sqlite': Buffer.from(`SQLite format 3\0\u0010\0\u0001\u0001\0@  \0`, 'latin1'),
    'L5-garbage': bytes(0x00, 0x80, 0xff, 0x0a, 0xc3, 0x28, 0x0a),
    'L5-bytes': Buffer.from(
      withLine(4, (line) => line.replace('warm', 'w\u00E4rm')),
      'latin1',
    ),
    'L5-cut': whole.slice(0, whole.length - 60),
    'L5-cut-in-character': cutAt.subarray(0, cutAt.indexOf('少') + 1),
    'L5-nul-tail': `${whole}${'\0'.repeat(64)}`,
    'L5-blank-line': withLine(5, (line) => `\n${line}`),
    'L5-no-json': withLine(3, (line) => line.replace('{', '')),
    'L5-single-quotes': withLine(3, (line) => line.replaceAll('"', "'")),
    'L5-nan': withLine(3, (line) => line.replace('1700000000000', 'NaN')),
    'L5-two-in-a-line': textOf([lines().slice(0, 2).join(''), ...lines().slice(2)]),
    'L5-events-missing': headed({ events: 20 }),
    'L5-events-too-many': headed({ events: 10 }),
    'L6-header-newer': headed({ format: 2 }),
    'L6-header-wrong': headed({ events: '15' }),
    'L6-header-bare': headed({ session: undefined }),
    'L6-header-again': headed({ events: 16 }, [
      JSON.stringify({ type: 'turnstep.log', format: 1, session: 'b', events: 0, exportedAt: 1 }),
    ]),
    'X1-epoch.started-hash': withLine(2, (line) => line.replace('"system":""', '"system":"Be brief."')),
    ...misshapen(),
  }
}

function misshapen(): Record<string, string> {
  const usage = { known: true, input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 }
  return {
    'L6-shape-list': withLine(3, () => '[]'),
    'L6-shape-text': withLine(3, () => '"turn.started"'),
    'L6-shape-no-type': withFields(3, { type: undefined }),
    'L6-shape-type-number': withFields(3, { type: 3 }),
    'L6-shape-type-undotted': withFields(3, { type: 'started' }),
    'L6-shape-no-seq': withFields(3, { seq: undefined }),
    'L6-shape-seq-text': withFields(3, { seq: '3' }),
    'L6-shape-no-at': withFields(3, { at: undefined }),
    'L6-shape-at-fraction': withFields(3, { at: 1_700_000_000_000.5 }),
    'L6-shape-at-beyond': withFields(3, { at: 8_640_000_000_000_001 }),
    'L6-shape-no-fence': withFields(3, { fence: undefined }),
    'L6-shape-fence-negative': withFields(3, { fence: -1 }),
    'L6-shape-no-turn': withFields(3, { turn: undefined }),
    'L6-shape-no-step': withFields(3, { step: null }),
    'L6-shape-format-0': withFields(1, { format: 0 }),
    'L6-shape-locale': withFields(1, { locale: 'English' }),
    'L6-shape-field-missing': withFields(4, { origin: undefined }),
    'L6-shape-field-null': withFields(4, { origin: { kind: 'user', name: null } }),
    'L6-shape-lane': withFields(4, { lane: 'control' }),
    'L6-shape-part': withFields(4, { content: [{ type: 'video', data: '' }] }),
    'L6-shape-part-in-list': withFields(4, { content: [{ type: 'text', text: 'a' }, { type: 'text' }] }),
    'L6-shape-usage': withFields(7, { usage: { ...usage, input: -1 } }),
    'L6-shape-call-outcome': withFields(9, { outcome: { kind: 'maybe' } }),
    'L6-shape-turn-outcome': withFields(15, { outcome: { kind: 'won' } }),
    'L6-shape-plugin-no-data': withFields(3, { type: 'x.notes.opened', trigger: undefined, limits: undefined }),
    'L6-shape-nested': withLine(3, (line) => line.replace('"trigger"', `"deep":${nested(200)},"trigger"`)),
  }
}

/** Files that a reader takes: what is odd about them says nothing. */
export function oddFiles(): Record<string, string | Buffer> {
  const future = { type: 'future.thing', anything: [1], seq: 3, at: 1_700_000_000_000, fence: 1, turn: 0, step: 0 }
  return {
    'blank-lines-at-the-end': `${textOf(lines())}\n \r\n\n`,
    'carriage-returns': textOf(lines()).replaceAll('\n', '\r\n'),
    'no-line-end': lines().join('\n'),
    spaces: withLine(3, (line) => ` ${line.replaceAll('":', '" : ').replaceAll(',"', ' , "')}\t`),
    escapes: withLine(4, (line) => line.replace('How warm', String.raw`\u0048ow\u0020warm \ud83d`)),
    'fields-in-another-order': withLine(4, (line) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line) as Json).toReversed())),
    ),
    header: headed({}),
    'header-with-more-fields': headed({ madeBy: 'somebody' }),
    'header-alone': textOf([
      '{"type":"turnstep.log","format":1,"session":"trip","events":0,"exportedAt":1700000000000}',
    ]),
    'fields-of-a-later-version': withFields(4, { mood: { kind: 'curious' } }),
    'types-of-a-later-version': textOf([...lines().slice(0, 2), JSON.stringify(future)]),
    'numbers-as-exponents': withLine(3, (line) => line.replace('1700000000000', '17e11')),
    'epoch-of-odd-words': withLine(2, oddEpoch),
    'nested-in-bounds': withLine(3, (line) => line.replace('"trigger"', `"deep":${nested(199)},"trigger"`)),
  }
}

/** Names in another order by code points than by code units, numbers in every notation, halves of pairs, escapes that need not be. */
const ODD_PARAMETERS = String.raw`{"type":"object","default":"\ud83d\/\u001f\u007f\u00e9\u2028\"\\\n","properties":{
  "\ud83d\ude00":{"enum":[1E2,1.50,-0,-0.0,1e20,1e21,1e300,12345678901234567890]},
  "\ufb33":{"enum":[0.1,0.000001,1e-7,1.5e-10,5e-324,-123.456,9007199254740993]},
  "b":{},"B":{},"9":{},"10":{},"":{}}}`

/** An epoch whose name is found only by who writes canonical JSON to the letter. */
function oddEpoch(line: string): string {
  const event = JSON.parse(line) as Json & { readonly content: Json }
  const { route, system } = event.content
  const tool = { name: 'weather', description: 'the tool weather' }
  const parameters = JSON.parse(ODD_PARAMETERS) as unknown
  const hash = nodeIds.sha256(canonicalJson({ route, system, tools: [{ ...tool, parameters }] }))
  const content = { hash, tools: [{ parameters: '?', ...tool }], system, route }
  return JSON.stringify({ ...event, content }).replace('"?"', () => ODD_PARAMETERS.replaceAll(/\n */g, ''))
}
