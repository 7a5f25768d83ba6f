/** Runs an example as a reader does: in a folder of its own, in a process of its own, with the built package among its modules. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformWithOxc } from 'vite'

const PROJECT = fileURLToPath(new URL('..', import.meta.url))

export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export class Example {
  /** Where it runs, and keeps what it keeps. */
  readonly folder = mkdtempSync(join(tmpdir(), 'turnstep-example-'))
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  /** Runs its `main.ts` to the end, without any variable of the environment: no key is needed. */
  async run(): Promise<Run> {
    await this.#install()
    return this.#node(['main.js'], {})
  }

  /** Runs the command line in its folder, where its modules end in `.js`. */
  async turnstep(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> {
    await this.#install()
    // Its temporary files go with the folder.
    return this.#node([join(PROJECT, 'dist/cli/bin.js'), ...args], { TMPDIR: this.folder, ...env })
  }

  #node(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Run> {
    const child = spawn(process.execPath, [...args], { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, out, err }))
    })
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Types are taken away, since Node 20 does not do it by itself. */
  async #install(): Promise<void> {
    const source = join(PROJECT, 'examples', this.#name)
    for (const file of readdirSync(source).filter((name) => /^(?!.*\.test).*\.ts$/.test(name))) {
      const { code } = await transformWithOxc(readFileSync(join(source, file), 'utf8'), file)
      const text = code.replaceAll(/(from "\.\/[\w-]+)\.ts"/g, '$1.js"')
      writeFileSync(join(this.folder, file.replace(/\.ts$/, '.js')), text)
    }
    writeFileSync(join(this.folder, 'package.json'), '{ "type": "module" }\n')
    const modules = join(this.folder, 'node_modules')
    mkdirSync(modules, { recursive: true })
    rmSync(join(modules, 'turnstep'), { force: true })
    rmSync(join(modules, 'zod'), { force: true })
    symlinkSync(PROJECT, join(modules, 'turnstep'), 'junction')
    symlinkSync(join(PROJECT, 'node_modules/zod'), join(modules, 'zod'), 'junction')
  }
}
