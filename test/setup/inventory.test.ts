import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { nodeClock } from '../../src/host/node.ts'
import { leftBehind, takeInventory } from './inventory.ts'

/** Opens something; the answer closes it again. */
type Open = () => (() => unknown) | Promise<() => unknown>

const OPENERS: readonly (readonly [what: string, seen: readonly string[], open: Open])[] = [
  ['a timer', ['Timeout'], () => nodeClock.after(60_000, () => {})],
  ['no timer that keeps nothing alive', [], () => nodeClock.after(60_000, () => {}, { unref: true })],
  [
    'a child process',
    ['ProcessWrap'],
    () => {
      const child = spawn(process.execPath, ['-e', 'process.stdin.read()'], { stdio: 'ignore' })
      return async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    },
  ],
  [
    'a server',
    ['TCPServerWrap'],
    async () => {
      const server = createServer()
      await once(server.listen(0, '127.0.0.1'), 'listening')
      return () => server.close()
    },
  ],
  [
    'a watched folder',
    ['FSEventWrap'],
    () => {
      const watcher = watch(tmpdir())
      return () => watcher.close()
    },
  ],
  [
    'a listener on the process',
    ['listener of SIGUSR2'],
    () => {
      const onSignal = (): void => {}
      process.on('SIGUSR2', onSignal)
      return () => process.off('SIGUSR2', onSignal)
    },
  ],
]

describe('the guard against leaks', () => {
  it.each(OPENERS)('sees %s', async (_what, seen, open) => {
    const before = takeInventory()
    const close = await open()
    expect(leftBehind(before, takeInventory())).toEqual(seen)
    await close()
  })
})
