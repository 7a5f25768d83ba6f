/** `paths`: where things are kept. */
import type { Cli } from '../cli.ts'
import { EXIT } from '../exit.ts'
import { findPlace, type PlaceFlags } from '../settings.ts'

export async function paths(cli: Cli, flags: PlaceFlags): Promise<number> {
  const { root, paths: where, store, configPath } = await findPlace(cli, flags)
  const rows = {
    workspace: root,
    home: where.home,
    store: typeof store === 'string' ? store : store.name,
    config: configPath ?? '-',
  }
  for (const [name, path] of Object.entries(rows)) {
    cli.out.line({ type: 'path', name, path })
    cli.out.result(`${name.padEnd(10)} ${path}`)
  }
  return EXIT.ok
}
