import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { nodeClock, nodeIds } from '../host/node.ts'
import { Cli } from './cli.ts'
import { EXIT } from './exit.ts'
import type { Io } from './io.ts'
import { Output } from './output.ts'
import { program } from './program/index.ts'
import { TEXTS } from './texts/index.ts'

const REFERENCE = readFileSync(new URL('../../docs/reference/cli.md', import.meta.url), 'utf8')
const LINES = readFileSync(new URL('../protocol/jsonl.ts', import.meta.url), 'utf8')

function commandsOf(locale: 'en' | 'zh'): readonly Command[] {
  const io: Io = {
    argv: [],
    env: () => undefined,
    cwd: '.',
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    clock: nodeClock,
    ids: nodeIds,
    version: '0.0.0',
    nodeVersion: '24.0.0',
    runsTypeScript: true,
    onStop: () => () => {},
    exit: () => {
      throw new Error('left')
    },
  }
  const root = program(new Cli(io, new Output(io, { json: false, quiet: true }), locale, true), () => {})
  return root.commands.flatMap((command) => (command.commands.length > 0 ? command.commands : [command]))
}

const isSubcommand = (command: Command): boolean => command.parent?.parent !== null

/** As it is typed: `session ls`, `run [task]`. */
function typed(command: Command): string {
  const args = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}...` : one.name()
    return one.required ? `<${name}>` : `[${name}]`
  })
  const path = isSubcommand(command) ? [command.parent!.name(), command.name()] : [command.name()]
  return [...path, ...args].join(' ')
}

describe('the reference of the command line', () => {
  const commands = commandsOf('en')

  it('names every command with its arguments, and no other', () => {
    const rows = [...REFERENCE.matchAll(/^\| `([a-z][^`]*)` \|/gm)].map(([, name]) => name!)
    const listed = rows.slice(0, rows.indexOf('help [command]'))
    expect(listed).toEqual(commands.map(typed))
  })

  it('names every flag', () => {
    const flags = new Set(commands.flatMap((command) => command.options.map((option) => option.flags)))
    for (const flag of flags) expect(REFERENCE).toContain(`\`${flag}\``)
  })

  it('and the help name every exit code', () => {
    for (const code of Object.values(EXIT)) expect(REFERENCE).toMatch(new RegExp(`^\\| (\\d+, )?${code}( |,)`, 'm'))
    for (const code of [0, 1, 2, 3, 4, 5, 6, 75, 130, 143]) {
      for (const { exits } of Object.values(TEXTS)) expect(exits).toMatch(new RegExp(`\\b${code}\\b`))
    }
  })

  it('names every type of JSON line', () => {
    const body = LINES.slice(LINES.indexOf('export type JsonlBody'), LINES.indexOf('export type JsonlLine'))
    const types = [...body.matchAll(/readonly type: ((?:'[a-z]+'(?: \| )?)+)/g)].flatMap(([, union]) =>
      [...union!.matchAll(/'([a-z]+)'/g)].map(([, name]) => name!),
    )
    const listed = [...REFERENCE.slice(REFERENCE.indexOf('## JSON lines')).matchAll(/^\| (`[a-z`, ]+) \|/gm)].flatMap(
      ([, cell]) => [...cell!.matchAll(/`([a-z]+)`/g)].map(([, name]) => name!),
    )
    expect(listed.toSorted()).toEqual(types.toSorted())
  })
})

describe('the catalogs', () => {
  it('describe every command and flag in both languages, differently', () => {
    const [en, zh] = [commandsOf('en'), commandsOf('zh')]
    for (const [index, command] of en.entries()) {
      const other = zh[index]!
      expect(other.name()).toBe(command.name())
      expect(other.description()).toMatch(/\p{Script=Han}/u)
      expect(command.description()).not.toMatch(/\p{Script=Han}/u)
      for (const option of other.options) {
        if (option.long !== '--lang') expect(option.description, option.flags).toMatch(/\p{Script=Han}/u)
      }
    }
  })
})
