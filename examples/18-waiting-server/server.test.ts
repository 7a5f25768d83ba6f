import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createHarness, type SessionStatus } from 'turnstep'
import { clerk } from './clerk.ts'
import { serve, type Service } from './server.ts'

let folder: string
let service: Service
let paid: string[]
const start = async (): Promise<Service> =>
  serve(
    clerk((order, amount) => paid.push(`${order}: ${amount}`)),
    join(folder, 'sessions.db'),
  )
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnstep-server-'))
  paid = []
  service = await start()
})
afterEach(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

/** One request on a connection of its own. */
async function call(path: string, body?: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${service.port}/sessions/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) }
}
const status = async (): Promise<SessionStatus> => (await call('trip')).body as SessionStatus

/** Asks for the refund, and gives what is shown to the person who decides. */
async function question(): Promise<{ readonly call: string; readonly argsHash: string | null }> {
  const message = { text: 'Order 7 arrived broken.', key: 'm1' }
  expect(await call('trip/messages', message)).toEqual({ status: 202, body: { key: 'm1' } })
  await expect.poll(status).toMatchObject({ kind: 'waiting', asks: [{ reason: 'Refund 42 EUR for order 7?' }] })
  const waiting = await status()
  if (waiting.kind !== 'waiting') throw new Error(waiting.kind)
  return waiting.asks[0]!
}

it('A3: a question is answered by a request of its own, and the same turn goes on', async () => {
  const ask = await question()
  const path = `trip/calls/${ask.call}`
  const yes = { allow: true, argsHash: ask.argsHash, by: 'Ada' }
  expect(await call(path, { ...yes, argsHash: 'of other arguments' })).toMatchObject({ status: 409 })
  expect(paid).toEqual([])
  expect(await call(path, yes)).toEqual({ status: 200, body: { state: 'entered' } })
  await expect.poll(status).toEqual({ kind: 'idle' })
  expect(await call(path, yes)).toEqual({ status: 409, body: { state: 'rejected' } })
  expect(paid).toEqual(['7: 42'])
})

it('A3: it outlives the server, and is answered in the next one', async () => {
  const ask = await question()
  await service.close()
  service = await start()
  expect(await status()).toMatchObject({ kind: 'waiting' })
  const no = { allow: false, argsHash: ask.argsHash, by: 'Ada', reason: 'ask for a photo' }
  expect(await call(`trip/calls/${ask.call}`, no)).toEqual({ status: 200, body: { state: 'entered' } })
  await expect.poll(status).toEqual({ kind: 'idle' })
  expect(paid).toEqual([])
})

it('W3: what was decided while no server was up is taken up by the next one', async () => {
  const ask = await question()
  await service.close()
  const elsewhere = await createHarness({ store: join(folder, 'sessions.db') })
  await (await elsewhere.attach('trip')).approve(ask.call)
  await elsewhere.close()
  service = await start()
  await expect.poll(status).toEqual({ kind: 'idle' })
  expect(paid).toEqual(['7: 42'])
})

it('L4: two servers on one store: either takes the answer', async () => {
  const ask = await question()
  const first = service
  service = await start()
  const yes = { allow: true, argsHash: ask.argsHash, by: 'Ada' }
  expect(await call(`trip/calls/${ask.call}`, yes)).toEqual({ status: 200, body: { state: 'entered' } })
  await expect.poll(status).toEqual({ kind: 'idle' })
  expect(paid).toEqual(['7: 42'])
  await first.close()
})

it('says what there is not', async () => {
  expect(await call('nobody')).toMatchObject({ status: 404 })
})
