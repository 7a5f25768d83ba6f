import { describe, expect, it } from 'vitest'
import { log } from '../../../test/kit/log.ts'
import { Tools } from '../../../test/kit/tools.ts'
import { sessionId } from '../../kernel/ids.ts'
import { PluginHost } from './plugin-host.ts'
import { token, type Plugin, type Scope } from './plugin.ts'

const SESSION = sessionId('s')
const NUMBER = token<number>('number')

const host = (parent: PluginHost | null = null): PluginHost => new PluginHost({ parent, emit: () => {} })
const plugin = (name: string, setup: (scope: Scope) => void): Plugin => ({ name, setup })
const listening = (name: string, options: { before?: string[]; after?: string[] } = {}): Plugin =>
  plugin(name, (scope) => scope.on('onEvent', () => {}, options))
const order = (of: PluginHost): string[] => of.hooks('onEvent').map((hook) => hook.plugin)
const toolNamed = (name: string): ReturnType<Tools['add']> => new Tools().add(name, { kind: 'returns', text: '' })

describe('hooks', () => {
  it('run in the order of loading', () => {
    const plugins = host()
    for (const name of ['c', 'a', 'b']) plugins.load(listening(name))
    expect(order(plugins)).toEqual(['c', 'a', 'b'])
  })

  it('run before and after others where they ask for it, also for ones that come later', () => {
    const plugins = host()
    plugins.load(listening('a', { after: ['c'] }))
    plugins.load(listening('b'))
    plugins.load(listening('c'))
    plugins.load(listening('d', { before: ['b'] }))
    const at = (name: string): number => order(plugins).indexOf(name)
    expect([at('c') < at('a'), at('d') < at('b'), order(plugins).length]).toEqual([true, true, 4])
  })

  it('that each want to run before the other are refused, and leave nothing behind', () => {
    const plugins = host()
    plugins.load(listening('a', { before: ['b'] }))
    expect(() =>
      plugins.load(
        plugin('b', (scope) => {
          scope.section({ name: 's', text: 't' })
          scope.on('onEvent', () => {}, { before: ['a'] })
        }),
      ),
    ).toThrow(expect.objectContaining({ code: 'plugin-invalid', message: expect.stringContaining('"a", "b"') }))
    expect([order(plugins), plugins.sections()]).toEqual([['a'], []])
    plugins.load(listening('b'))
  })

  it('of the parent run first, unless they ask for another order', () => {
    const parent = host()
    parent.load(listening('above'))
    parent.load(listening('last', { after: ['below'] }))
    const child = host(parent)
    child.load(listening('below'))
    expect(order(child)).toEqual(['above', 'below', 'last'])
    expect(order(parent)).toEqual(['above', 'last'])
  })

  it('nobody listens to cost nothing', () => {
    expect(host().hooks('decideCall')).toHaveLength(0)
  })
})

describe('a scope', () => {
  it('sees its parents, and a parent never its children', () => {
    const parent = host()
    parent.load(plugin('above', (scope) => scope.provide(NUMBER, 7)))
    const child = host(parent)
    let seen: number | null = null
    child.load(
      plugin('below', (scope) => {
        seen = scope.use(NUMBER)
        scope.provide(token<string>('own'), 'x')
      }),
    )
    expect(seen).toBe(7)
    expect(() => parent.load(plugin('curious', (scope) => scope.use(token<string>('own'))))).toThrow(
      expect.objectContaining({ code: 'service-missing' }),
    )
  })

  it('may provide what its parent provides, for itself', () => {
    const parent = host()
    parent.load(plugin('above', (scope) => scope.provide(NUMBER, 7)))
    const child = host(parent)
    let seen: number | null = null
    child.load(
      plugin('below', (scope) => {
        scope.provide(NUMBER, 8)
        seen = scope.use(NUMBER)
      }),
    )
    expect(seen).toBe(8)
  })

  it('does not register a name twice', () => {
    const plugins = host()
    plugins.load(plugin('a', (scope) => scope.tool(toolNamed('look'))))
    expect(() => plugins.load(plugin('b', (scope) => scope.tool(toolNamed('look'))))).toThrow(
      expect.objectContaining({ code: 'plugin-invalid', message: expect.stringContaining('tool "look"') }),
    )
    expect(() => plugins.load(plugin('a', () => {}))).toThrow(expect.objectContaining({ code: 'plugin-invalid' }))
  })

  it('orders its sections by number, then by name', () => {
    const plugins = host()
    plugins.load(
      plugin('a', (scope) => {
        scope.section({ name: 'b', text: 'two' })
        scope.section({ name: 'a', text: () => 'one' })
        scope.section({ name: 'c', order: -1, text: 'zero' })
      }),
    )
    expect(plugins.sections().map((section) => section.text())).toEqual(['zero', 'one', 'two'])
  })

  it('names the facts of its plugin', () => {
    const facts: unknown[] = []
    const plugins = new PluginHost({ parent: null, emit: (...fact) => facts.push(fact) })
    plugins.load(plugin('a', (scope) => scope.emit(SESSION, 'seen', 1)))
    expect(facts).toEqual([[SESSION, 'x.a.seen', 1]])
  })

  it('L3: folds state of its own from the log, per session', () => {
    const plugins = host()
    let read!: (session: typeof SESSION) => number
    plugins.load(plugin('count', (scope) => ({ read } = scope.fold({ initial: 0, apply: (count) => count + 1 }))))
    for (const event of log().open().events) for (const fold of plugins.folds()) fold.apply(SESSION, event)
    expect([read(SESSION), read(sessionId('other'))]).toEqual([2, 0])
    for (const fold of plugins.folds()) fold.reset(SESSION)
    expect(read(SESSION)).toBe(0)
  })
})

describe('unloading', () => {
  it('undoes all that was registered, last first', async () => {
    const plugins = host()
    const undone: string[] = []
    plugins.load(
      plugin('a', (scope) => {
        scope.on('onEvent', () => {})
        scope.onUnload(() => void undone.push('first'))
        scope.tool(toolNamed('look'))
        scope.section({ name: 's', text: 't' })
        scope.provide(NUMBER, 1)
        scope.fold({ initial: 0, apply: (state) => state })
        scope.onUnload(async () => void undone.push('last'))
      }),
    )
    await plugins.unload('a')
    expect(undone).toEqual(['last', 'first'])
    expect([order(plugins), plugins.tools(), plugins.sections(), plugins.folds()]).toEqual([[], [], [], []])
    expect(() => plugins.load(plugin('b', (scope) => scope.use(NUMBER)))).toThrow(
      expect.objectContaining({ code: 'service-missing' }),
    )
  })

  it('undoes the rest where one step fails, and says so then', async () => {
    const plugins = host()
    plugins.load(
      plugin('a', (scope) => {
        scope.on('onEvent', () => {})
        scope.onUnload(() => {
          throw new Error('it is stuck')
        })
      }),
    )
    await expect(plugins.unload('a')).rejects.toThrow('it is stuck')
    expect(order(plugins)).toEqual([])
  })

  it('goes on to the other plugins where one fails, and says so then', async () => {
    const plugins = host()
    const undone: string[] = []
    const stuck = (name: string): Plugin =>
      plugin(name, (scope) =>
        scope.onUnload(async () => {
          undone.push(name)
          throw new Error(`${name} is stuck`)
        }),
      )
    for (const name of ['a', 'b']) plugins.load(stuck(name))
    await expect(plugins.unloadAll()).rejects.toThrow('b is stuck')
    expect(undone).toEqual(['b', 'a'])
    await plugins.unloadAll()
  })

  it('goes through the plugins from the last to the first', async () => {
    const plugins = host()
    const undone: string[] = []
    for (const name of ['a', 'b']) plugins.load(plugin(name, (scope) => scope.onUnload(() => void undone.push(name))))
    await plugins.unloadAll()
    expect(undone).toEqual(['b', 'a'])
    await plugins.unload('a')
  })

  it('X1: shows in the version, here and below', async () => {
    const parent = host()
    const child = host(parent)
    const before = child.version
    parent.load(listening('a'))
    const loaded = child.version
    await parent.unload('a')
    expect(new Set([before, loaded, child.version]).size).toBe(3)
  })

  it('a `setup` that throws leaves nothing', () => {
    const plugins = host()
    const bad = plugin('a', (scope) => {
      scope.on('onEvent', () => {})
      throw new Error('no')
    })
    expect(() => plugins.load(bad)).toThrow('no')
    expect(order(plugins)).toEqual([])
    plugins.load(listening('a'))
  })
})
