/** Reads a `.cpuprofile`: self times by function and by file, the bare loop left out. */
import { placeOf } from './places.ts'

interface Frame {
  readonly functionName: string
  readonly url: string
  /** Both from 0. */
  readonly lineNumber: number
  readonly columnNumber: number
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

/** A function or a file, and which part of the time it took itself. */
export interface Share {
  readonly name: string
  readonly share: number
}

const FLOOR = /\/bench\/lib\/bare\.js$/

/** The most expensive functions and files of a profile, the most expensive first. */
export function sharesOf(text: string): { readonly functions: readonly Share[]; readonly files: readonly Share[] } {
  const { nodes, samples, timeDeltas } = JSON.parse(text) as Profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const floor = new Set<number>()
  const leaveOut = (id: number): void => {
    floor.add(id)
    byId.get(id)?.children?.forEach(leaveOut)
  }
  for (const { id, callFrame } of nodes) if (FLOOR.test(callFrame.url)) leaveOut(id)
  const functions = new Map<string, number>()
  const files = new Map<string, number>()
  let total = 0
  samples.forEach((id, at) => {
    const frame = byId.get(id)!.callFrame
    if (floor.has(id) || frame.functionName === '(idle)' || frame.url === 'node:inspector') return
    const took = timeDeltas[at]!
    total += took
    const { file, line } = placeOf(frame)
    add(functions, `${frame.functionName || '(anonymous)'}  ${file}${file === '' ? '' : `:${line}`}`, took)
    add(files, file === '' ? frame.functionName : file, took)
  })
  return { functions: sorted(functions, total), files: sorted(files, total) }
}

function add(sums: Map<string, number>, name: string, value: number): void {
  sums.set(name, (sums.get(name) ?? 0) + value)
}

function sorted(sums: ReadonlyMap<string, number>, total: number): Share[] {
  const shares = [...sums].map(([name, sum]) => ({ name, share: sum / total }))
  return shares.toSorted((one, other) => other.share - one.share)
}
