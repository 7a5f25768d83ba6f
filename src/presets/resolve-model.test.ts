import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { isTurnstepError } from '../kernel/errors.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { type ChatServer, chatServer } from '../models/chat/server.case.ts'
import { ask, collect } from '../models/contract.case.ts'
import { knownProviders, resolveModel } from './resolve-model.ts'

const servers: ChatServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

function resolve(name: string, env: Readonly<Record<string, string>> = {}) {
  return resolveModel(name, { env: (key) => env[key], clock: new FakeClock() })
}

function errorOf(run: () => unknown) {
  try {
    run()
  } catch (error) {
    if (isTurnstepError(error)) return error
  }
  throw new Error('it threw nothing of ours')
}

describe('models by name', () => {
  it.each([
    ['deepseek/deepseek-chat', 'DEEPSEEK', 'deepseek', 'deepseek', 'deepseek-chat'],
    ['openai/gpt-5', 'OPENAI', 'openai', 'openai', 'gpt-5'],
    ['kimi/kimi-k2', 'MOONSHOT', 'moonshot', 'kimi', 'kimi-k2'],
    ['moonshot/kimi-k2', 'KIMI', 'moonshot', 'kimi', 'kimi-k2'],
    ['qwen/qwen3', 'DASHSCOPE', 'dashscope', 'qwen', 'qwen3'],
    ['minimax/MiniMax-M2', 'MINIMAX', 'minimax', 'minimax', 'MiniMax-M2'],
    ['glm/glm-4.7', 'ZAI', 'zai', 'glm', 'glm-4.7'],
    ['openrouter/z-ai/glm-4.7', 'OPENROUTER', 'openrouter', 'openrouter', 'z-ai/glm-4.7'],
    ['ollama/llama3:8b', 'OLLAMA', 'ollama', 'ollama', 'llama3:8b'],
    ['vllm/mine', 'VLLM', 'vllm', 'vllm', 'mine'],
    ['acme/mine', 'ACME', 'acme', 'generic', 'mine'],
  ])('%s is called at its base URL with its key', async (name, prefix, provider, wire, model) => {
    const server = await chatServer([{ emit: [{ text: 'one' }] }, { emit: [{ text: 'two' }] }])
    servers.push(server)
    const resolved = resolve(name, { [`${prefix}_API_KEY`]: 'k', [`${prefix}_BASE_URL`]: server.url })
    expect(resolved.route).toEqual({ adapter: 'chat', wire, provider, model, scope: 'default' })
    expect((await collect(resolved, ask('go'))).text).toBe('one')
    expect((await collect(resolved, ask('go'))).text).toBe('two')
    expect(server.seen[0]!.headers.authorization).toBe('Bearer k')
    expect(server.seen[0]!.body['model']).toBe(model)
  })

  it('take keys and URLs that were read from a file with its line break', async () => {
    const server = await chatServer([{ emit: [{ text: 'hi' }] }])
    servers.push(server)
    const env = { DEEPSEEK_API_KEY: 'k\r\n', DEEPSEEK_BASE_URL: ` ${server.url}\n`, HTTP_PROXY: ' ' }
    expect((await collect(resolve('deepseek/x', env), ask('go'))).text).toBe('hi')
    expect(server.seen[0]!.headers.authorization).toBe('Bearer k')
    expect(errorOf(() => resolve('deepseek/x', { DEEPSEEK_API_KEY: '\n' })).code).toBe('model-key-missing')
  })

  it('refuse a key that cannot be sent, and do not show it', () => {
    const error = errorOf(() => resolve('deepseek/x', { DEEPSEEK_API_KEY: 'sk-one\nsk-two' }))
    expect([error.code, error.message]).toEqual([
      'config-invalid',
      expect.stringContaining('a line break at position 7'),
    ])
    expect(error.message).not.toContain('sk-')
  })

  it('need no key on the own machine', async () => {
    const server = await chatServer([{ emit: [{ text: 'hi' }] }])
    servers.push(server)
    expect((await collect(resolve('ollama/x', { OLLAMA_BASE_URL: server.url }), ask('go'))).text).toBe('hi')
    expect(server.seen[0]!.headers.authorization).toBeUndefined()
  })

  it('reach the own machine without the proxy', async () => {
    const server = await chatServer([{ emit: [{ text: 'hi' }] }])
    servers.push(server)
    const env = { OLLAMA_BASE_URL: server.url, HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1' }
    expect((await collect(resolve('ollama/x', env), ask('go'))).text).toBe('hi')
  })

  it('name the variable that is missing', () => {
    const error = errorOf(() => resolve('deepseek/deepseek-chat'))
    expect(error).toMatchObject({ code: 'model-key-missing', data: { variable: 'DEEPSEEK_API_KEY' } })
    expect(error.message).toBe('"deepseek/deepseek-chat" needs a key: set DEEPSEEK_API_KEY')
  })

  it('list the providers that are known', () => {
    const error = errorOf(() => resolve('acme/model'))
    expect(error.code).toBe('model-unknown')
    for (const name of [...knownProviders(), 'ACME_BASE_URL', '"acme"']) expect(error.message).toContain(name)
  })

  it.each(['gpt-5', '/x', 'openai/', ''])('must be provider/model: %j', (name) => {
    expect(errorOf(() => resolve(name)).message).toContain('write provider/model')
  })

  it.each([
    ['OLLAMA_BASE_URL', 'nowhere'],
    ['OLLAMA_BASE_URL', 'localhost:11434'],
    ['HTTPS_PROXY', 'no proxy'],
    ['https_proxy', 'proxy:8080'],
    ['HTTP_PROXY', 'ftp://proxy'],
    ['http_proxy', '://'],
  ])('are refused where %s is no URL: %j', (variable, value) => {
    const error = errorOf(() => resolve('ollama/x', { [variable]: value }))
    expect(error).toMatchObject({ code: 'config-invalid', data: { variable } })
    expect(error.message).toContain(`${variable} is ${JSON.stringify(value)}, which is no URL`)
  })

  it.each(['ann:s3cret@proxy:8080', 'socks5://ann:s3cret@proxy:8080', '//ann:s3c@ret@proxy'])(
    'say of %j what is wrong, and not its password',
    (value) => {
      const error = errorOf(() => resolve('ollama/x', { HTTPS_PROXY: value }))
      expect(error.message).toContain('HTTPS_PROXY')
      expect(error.message).toContain('…@proxy')
      expect(error.message).not.toMatch(/ann|s3c/)
    },
  )

  it.each(['OLLAMA_BASE_URL', 'HTTPS_PROXY', 'HTTP_PROXY'])('take an empty %s for none', (variable) => {
    expect(resolve('ollama/x', { [variable]: '' }).route.provider).toBe('ollama')
  })
})

describe('a resolver that nobody uses', () => {
  it('loads no package', () => {
    const loaded = loadedWith(new URL('./resolve-model.ts', import.meta.url))
    expect(loaded.filter((name) => !name.startsWith('.'))).toEqual([])
    expect(loaded).toContain('./dialects.ts')
  })
})

/** What importing a file runs, as it is written: all imports from there on that are not only types. */
function loadedWith(file: URL, seen = new Set<string>()): string[] {
  if (seen.has(file.href)) return []
  seen.add(file.href)
  const text = readFileSync(file, 'utf8')
  const names = [...text.matchAll(/^(?:import|export) (?!type )[^']*? from '([^']+)'/gm)].map((match) => match[1]!)
  return names.flatMap((name) => [name, ...(name.startsWith('.') ? loadedWith(new URL(name, file), seen) : [])])
}
