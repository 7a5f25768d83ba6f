/**
 * A step of a model in one line: `say text | think text | call tool {"a":1} | raw tool text | cut tool {"a":1}`, how it goes
 * (`slow 1s`: so long before each piece and the end; `stop length`; `fault http 429`), or the step itself as JSON.
 */
import type { Emit, Fault, ScriptStep, Stop } from '../../../src/models/scripted/index.ts'
import { msOf, splitWord } from './words.ts'

/** Unless it says otherwise, a step expects that its request continues the one before it (X1). */
export function stepOf(line: string): ScriptStep {
  const step = line.startsWith('{') ? (JSON.parse(line) as ScriptStep) : shortStep(line)
  return { ...step, expect: { prefixSame: true, ...step.expect } }
}

function shortStep(line: string): ScriptStep {
  const emit: Emit[] = []
  let more: Omit<ScriptStep, 'emit'> = {}
  for (const piece of line.split(' | ')) {
    const [word, rest] = splitWord(piece)
    const emitted = emitOf(word, rest)
    if (emitted === null) more = { ...more, ...howOf(word, rest) }
    else emit.push(emitted)
  }
  return { emit, ...more }
}

function emitOf(word: string, rest: string): Emit | null {
  if (word === 'say') return { text: rest }
  if (word === 'think') return { reasoning: rest }
  const [name, args] = splitWord(rest)
  if (word === 'raw') return { call: { name, raw: args } }
  if (word !== 'call' && word !== 'cut') return null
  return {
    call: {
      name,
      ...(args === '' ? {} : { args: JSON.parse(args) as never }),
      ...(word === 'cut' ? { cut: true } : {}),
    },
  }
}

function howOf(word: string, rest: string): Omit<ScriptStep, 'emit'> {
  if (word === 'stop') return { stop: rest as Stop }
  if (word === 'slow') return { stream: { delayMs: msOf(rest) } }
  if (word === 'expect') return { expect: JSON.parse(rest) as never }
  if (word === 'fault') return { fault: faultOf(rest) }
  throw new Error(`"${word}" is nothing that a model does in a script`)
}

function faultOf(text: string): Fault {
  const [kind, rest] = splitWord(text)
  const [status, retryAfterSeconds] = rest.split(' ').map(Number)
  const more = {
    ...(rest === '' ? {} : { status: status! }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
  return { kind: kind as Fault['kind'], ...more }
}
