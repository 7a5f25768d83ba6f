/**
 * Files of a workspace that are not the model's to change as it likes, by their names: what runs as code although nobody asks for
 * it, and what Turnstep keeps. Such names count in any folder, since any folder may be worked in.
 */

import { Refusal } from './refusal.ts'

/** `config`: the command line runs it. `git`: git does. `state`: the sessions themselves. */
export type Guard = 'config' | 'git' | 'state'

/** The strictest guard of these names of files and folders; null: there is none. */
export function guardOf(names: readonly string[]): Guard | null {
  const plain = names.map(plainName)
  if (plain.includes('.turnstep')) return 'state'
  if (plain.includes('.git')) return 'git'
  return plain.some((name) => name.startsWith('turnstep.config.')) ? 'config' : null
}

/** The name as systems see it that ignore case, invisible characters, and dots and spaces at the end. */
function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/(:.*|[. ]+)$/s, '')
}

/** The place, if it may be changed at all. Refuses with `guarded` what Turnstep itself keeps. */
export function changeable<P extends { readonly shown: string; readonly guard: Guard | null }>(place: P): P {
  if (place.guard !== 'state') return place
  throw new Refusal(
    'guarded',
    `"${place.shown}" is where Turnstep keeps its sessions, and is not to be changed. Use another folder.`,
  )
}
