/** What may happen in every run. */
import type { Action } from '../stage.ts'
import { abort, answer, approve, deny, resume } from './decisions.ts'
import { again, note, send, steer } from './inputs.ts'
import { close, cut, fill, freeze, kill, letGo, start } from './processes.ts'
import { convert, edit, move, withdraw } from './queue.ts'

export const ACTIONS: readonly Action[] = [
  send,
  steer,
  note,
  again,
  edit,
  withdraw,
  move,
  convert,
  abort,
  resume,
  approve,
  deny,
  answer,
  start,
  kill,
  close,
  freeze,
  cut,
  fill,
  letGo,
] as readonly Action[]
