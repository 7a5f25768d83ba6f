/**
 * What `npm install turnstep` puts on a disk: at most 40 packages and 40 MB. And nothing here, developers' tools included, runs a
 * script when it is installed: npm 12 blocks such scripts, and native code then fails at its first use.
 * `installed.mjs [FOLDER]` looks at what is installed in another folder.
 */
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES_MAX = 40
const MEGABYTES_MAX = 40

const folder = process.argv[2] ?? '.'
const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')).packages
const installed = Object.entries(lock)
  .map(([path, entry]) => [path === '' ? '' : join(folder, path), entry])
  .filter(([path]) => path !== '' && existsSync(join(path, 'package.json')))
const shipped = installed.filter(([, entry]) => entry.dev !== true)
const megabytes = shipped.reduce((sum, [path]) => sum + bytesIn(path), 0) / 1e6

const problems = installed.flatMap(([path, entry]) => {
  const { scripts = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const own = ['preinstall', 'install', 'postinstall'].filter((name) => name in scripts)
  if (existsSync(join(path, 'binding.gyp'))) own.push('node-gyp')
  if (entry.hasInstallScript === true) own.push('hasInstallScript in the lock file')
  return own.length === 0 ? [] : [`${path} runs on install: ${own.join(', ')}`]
})
if (shipped.length > PACKAGES_MAX) problems.push(`${shipped.length} packages; at most ${PACKAGES_MAX}`)
if (megabytes > MEGABYTES_MAX) problems.push(`${megabytes.toFixed(1)} MB; at most ${MEGABYTES_MAX}`)

for (const problem of problems) console.error(problem)
console.log(`${shipped.length} packages, ${megabytes.toFixed(1)} MB`)
process.exitCode = problems.length > 0 ? 1 : 0

/** Size of a package without the packages nested in it. */
function bytesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + bytesIn(path)
    return entry.isFile() ? sum + statSync(path).size : sum
  }, 0)
}
