/** The layers of the project, and what is let through in spite of a rule, each with its reason. */

/** From the ground up. A file imports from strictly lower rows, or from its own unit. */
const ROWS: readonly (readonly string[])[] = [
  ['util'],
  ['kernel'],
  ['runtime', 'protocol'],
  ['runtime/define'],
  ['runtime/runner'],
  ['runtime/session'],
  ['plugins', 'stores', 'dispatchers', 'models', 'tools', 'host'],
  ['presets', 'client', 'testing'],
  ['index.ts'],
  ['server', 'evals'],
  ['cli'],
]

/** Layers whose folders are units that do not know each other. */
const OF_UNITS: readonly string[] = ['plugins', 'stores', 'dispatchers', 'models', 'tools']

/** Layers that run anywhere: no Node module, no package. */
export const PURE_LAYERS: readonly string[] = [
  'util',
  'kernel',
  'runtime',
  'runtime/define',
  'runtime/runner',
  'runtime/session',
  'protocol',
  'client',
]

/** The row in which tests stand at least: they may use what the testing kit may. */
const TEST_ROW = ROWS.findIndex((row) => row.includes('testing'))

/** Where a file stands. */
export interface Place {
  readonly layer: string
  /** From 0, the ground; -1 for a folder that no row names. */
  readonly row: number
  /** A folder of its own in a layer of units, else the layer. */
  readonly unit: string
}

/** The place of a file in `src`; null for a file elsewhere. */
export function placeOf(path: string): Place | null {
  const [root, top, ...rest] = path.split('/')
  if (root !== 'src' || top === undefined) return null
  const nested = `${top}/${rest[0]}`
  const layer = ROWS.some((names) => names.includes(nested)) ? nested : top
  const row = ROWS.findIndex((names) => names.includes(layer))
  const unit = OF_UNITS.includes(layer) && rest.length > 1 ? `${layer}/${rest[0]}` : layer
  return { layer, row, unit }
}

/** Whether shipped code at `from` may import what stands at `to`. What lies directly in a layer of units is common ground of its units. */
export function mayImport(from: Place, to: Place): boolean {
  return to.row < from.row || to.unit === from.unit || to.unit === from.layer
}

/** Whether a test beside code at `from` may import what stands at `to`. */
export function mayTestImport(from: Place, to: Place): boolean {
  return to.row <= TEST_ROW || mayImport(from, to)
}

export interface Exception {
  /** A file, or a folder with a slash at its end. */
  readonly where: string
  /** What is let through: a package, a global, a name. */
  readonly what: string
  readonly why: string
}

/** Packages and Node modules in pure layers. */
export const IMPORT_EXCEPTIONS: readonly Exception[] = [
  { where: 'src/runtime/', what: '@standard-schema/spec', why: 'types only: what a tool may give as its schema' },
  { where: 'src/runtime/', what: 'ajv', why: 'loaded on first use, for tools whose schema is plain JSON Schema' },
  { where: 'src/runtime/', what: 'ajv/dist/2020.js', why: 'the 2020 dialect of the same' },
]

/** Ambient time, randomness and environment. */
export const AMBIENT_EXCEPTIONS: readonly Exception[] = [
  { where: 'src/host/', what: '*', why: 'the one reader of clock, random and environment' },
  { where: 'src/cli/bin.ts', what: '*', why: 'the entry of the process' },
  {
    where: 'src/testing/fake-clock.ts',
    what: 'setImmediate',
    why: 'lets promises settle before the clock moves; waits for no time',
  },
]

/** Words that are not ours, where a wire, a platform or the contract has them. */
export const WORD_EXCEPTIONS: readonly Exception[] = [
  { where: 'src/kernel/fold.ts', what: 'interruptReply', why: 'folds `reply.interrupted`, an event of the contract' },
]

export function isExcepted(exceptions: readonly Exception[], path: string, what: string): boolean {
  return exceptions.some((one) => {
    const here = one.where.endsWith('/') ? path.startsWith(one.where) : path === one.where
    return here && (one.what === '*' || one.what === what)
  })
}
