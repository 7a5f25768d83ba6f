import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../testing/fake-clock.ts'
import { chatModel } from './chat/index.ts'
import { chatServer } from './chat/server.case.ts'
import { ask, collect, failureOf } from './contract.case.ts'
import { dispatcherFor, type ProxySettings } from './proxy.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A proxy that counts what it is asked for; it knows no host but this one. */
async function startProxy() {
  const seen: string[] = []
  const server = createServer((_request, response) => response.writeHead(405).end())
  server.on('connect', (request, socket, head) => {
    const [host = '', port = ''] = (request.url ?? '').split(':')
    seen.push(host)
    if (host !== '127.0.0.1') return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    socket.on('error', () => onward.destroy())
    closing.push(() => Promise.resolve(void onward.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

async function startChat() {
  const server = await chatServer([{ emit: [{ text: 'hi' }] }])
  closing.push(() => server.close())
  return (proxy: ProxySettings, baseUrl = server.url) =>
    chatModel({ provider: 'p', model: 'm', baseUrl, apiKey: null, clock: new FakeClock(), proxy })
}

describe('a proxy', () => {
  it('is gone through if one is set', async () => {
    const proxy = await startProxy()
    const model = (await startChat())({ httpProxy: proxy.url })
    expect((await collect(model, ask('go'))).text).toBe('hi')
    expect(proxy.seen).toEqual(['127.0.0.1'])
  })

  it('is not gone through for hosts that are reached directly', async () => {
    const proxy = await startProxy()
    const model = (await startChat())({ httpProxy: proxy.url, noProxy: '127.0.0.1' })
    expect((await collect(model, ask('go'))).text).toBe('hi')
    expect(proxy.seen).toEqual([])
  })

  it('that refuses is a network failure', async () => {
    const proxy = await startProxy()
    const model = (await startChat())({ httpsProxy: proxy.url }, 'https://model.invalid/v1')
    expect(failureOf((await collect(model, ask('go'))).end)).toMatchObject({ kind: 'network', retry: true })
    expect(proxy.seen).toEqual(['model.invalid'])
  })
})

describe('a dispatcher', () => {
  it('is made only where the built-in one does not do', async () => {
    expect(await dispatcherFor(null, 1000)).toBeUndefined()
    expect(await dispatcherFor({ noProxy: 'x' }, 1000)).toBeUndefined()
    expect(await dispatcherFor(null, 600_000)).toMatchObject({ dispatch: expect.any(Function) })
  })
})
