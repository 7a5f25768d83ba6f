/**
 * Makes the JavaScript of `dist` from `src`: few files, since each costs a program up to half a millisecond at its start. What a first
 * turn in memory needs is in two of them; the rest comes with its first use, by the dynamic imports in `src`. See
 * docs/decisions/bundle.md.
 */
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What is loaded by name or by path. The path in `dist` is the one in `src`. */
const ENTRIES = ['index', 'testing/index', 'cli/bin', 'cli/demo/worker', 'cli/torture/worker']

/** What importing the library, or starting the command line, loads at once. */
const library = new Set()
const commandLine = new Set()

const readLoads = {
  name: 'read-loads',
  buildEnd() {
    const visit = (id, seen) => {
      if (seen.has(id)) return
      seen.add(id)
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) visit(imported, seen)
    }
    visit(sourceOf('index'), library)
    visit(sourceOf('cli/bin'), commandLine)
  },
}

const bundle = await rolldown({
  input: Object.fromEntries(ENTRIES.map((entry) => [entry, sourceOf(entry)])),
  // Packages stay packages: what a user has installed is what runs.
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  platform: 'node',
  tsconfig: false,
  plugins: [readLoads],
})
await bundle.write({
  dir: join(root, 'dist'),
  sourcemap: true,
  chunkFileNames: 'chunks/[name].js',
  codeSplitting: {
    groups: [
      // Of the core the command line needs a little for everything it does, and all of it for some.
      { name: 'base', test: (id) => library.has(id) && commandLine.has(id), priority: 3 },
      { name: 'core', test: (id) => library.has(id), priority: 2 },
      { name: 'tool-bodies', test: /src.(tools|host.process)/, priority: 1 },
      { name: 'chat-line', test: /src.models/, priority: 1 },
      { name: 'sqlite', test: /src.stores.sqlite/, priority: 1 },
    ],
  },
})
await bundle.close()

function sourceOf(entry) {
  return join(root, 'src', `${entry}.ts`)
}
