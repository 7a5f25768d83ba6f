#!/usr/bin/env node
/** The entry of the process: the one place that knows it. */
import { readFileSync } from 'node:fs'
import { env, nodeClock, nodeIds } from '../host/node.ts'
import { EXITS, type Io, type Stop } from './io.ts'
import { main } from './main.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const listeners: ((stop: Stop) => void)[] = []

function onSignal(signal: NodeJS.Signals): void {
  listeners.at(-1)?.(signal as Stop)
}

const io: Io = {
  argv: process.argv.slice(2),
  env,
  cwd: process.cwd(),
  get stdin() {
    return process.stdin
  },
  stdout: process.stdout,
  stderr: process.stderr,
  clock: nodeClock,
  ids: nodeIds,
  version,
  nodeVersion: process.versions.node,
  runsTypeScript: Boolean((process.features as { readonly typescript?: unknown }).typescript),
  onStop(listener) {
    // Only while somebody listens: without a listener the system's own way of ending is the best one.
    if (listeners.length === 0) for (const signal of SIGNALS) process.on(signal, onSignal)
    listeners.push(listener)
    return () => {
      listeners.splice(listeners.indexOf(listener), 1)
      if (listeners.length === 0) for (const signal of SIGNALS) process.off(signal, onSignal)
    }
  },
  exit: (code) => process.exit(code),
}

// Node 22 calls its own SQLite experimental, on stderr, with each start.
process.removeAllListeners('warning')
process.on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') process.stderr.write(`${warning.stack ?? warning.message}\n`)
})

/** A reader that goes away, such as `head`, is told once; what is written after that is nobody's. */
let isReaderGone = false
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (isReaderGone) return
    isReaderGone = true
    const listener = listeners.at(-1)
    if (listener === undefined) process.exit(EXITS.SIGPIPE)
    listener('SIGPIPE')
  })
}

const code = await main(io)
// Not before all of it is written, and not later: what a tool or a plugin left open must not keep us.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
