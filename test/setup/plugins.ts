/** Plugins that every harness of the test kit loads: `TURNSTEP_TEST_PLUGIN=noop` runs the suite with a listener on every hook. */
import { env } from '../../src/host/node.ts'
import type { Plugin } from '../../src/runtime/define/plugin.ts'
import { noopPlugin } from '../kit/noop.ts'

const KNOWN: Readonly<Record<string, Plugin>> = { noop: noopPlugin }

export const testPlugins: readonly Plugin[] = pluginsNamed(env('TURNSTEP_TEST_PLUGIN'))

function pluginsNamed(name: string | undefined): readonly Plugin[] {
  if (name === undefined) return []
  const plugin = KNOWN[name]
  if (plugin === undefined)
    throw new Error(`TURNSTEP_TEST_PLUGIN is "${name}"; known: ${Object.keys(KNOWN).join(', ')}`)
  return [plugin]
}
