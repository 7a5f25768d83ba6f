import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Case } from '../lib/case.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export const install: Case = {
  name: 'install',
  title: 'what npm install of the packed project puts into an empty folder',
  rounds: 1,
  async measure({ folder }) {
    // Packed as it is built: to pack with its script would take away what other programs run from.
    const npm = (args: readonly string[], cwd: string): string => execFileSync('npm', args, { cwd, encoding: 'utf8' })
    const tarball = npm(['pack', '--ignore-scripts', '--silent', `--pack-destination=${folder}`], ROOT).trim()
    const target = join(folder, 'installed')
    mkdirSync(target)
    writeFileSync(join(target, 'package.json'), '{"private":true}')
    npm(['install', '--no-audit', '--no-fund', join(folder, tarball)], target)
    const said = execFileSync(process.execPath, [join(ROOT, '.ci/installed.mjs'), target], { encoding: 'utf8' })
    const [, packages, megabytes] = /^(\d+) packages, ([\d.]+) MB/m.exec(said) ?? []
    if (packages === undefined) throw new Error(`.ci/installed.mjs said: ${said}`)
    return { installMb: Number(megabytes), installPackages: Number(packages) }
  },
}
