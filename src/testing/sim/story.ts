/** A run as it went, line by line, for people. */
import type { Event } from '../../kernel/events.ts'
import { lineOf } from './facts.ts'
import { runOnce, type Ran, type RunOptions, type Told } from './run.ts'
import type { SimBody, SimDecision, SimFault, SimMove } from './sim.ts'

const DELAY = /^\[\d+,\d+\]$/

/** Plays a run, and tells it: moves (`>`), what befell (`?`), leases (`--`), bodies (`~`), events, and what is broken (`!`). */
export async function tellRun(options: RunOptions, line: (text: string) => void): Promise<Ran> {
  return runOnce({
    ...options,
    tell: (kind, what) => {
      for (const text of linesOf(kind, what)) line(text)
    },
  })
}

function linesOf(kind: Told, what: unknown): readonly string[] {
  switch (kind) {
    case 'move': {
      const [number, name, params] = what as SimMove
      return [
        name === 'wait'
          ? `> ${number} wait ${JSON.stringify(params)} ms`
          : `> ${number} ${name} ${JSON.stringify(params)}`,
      ]
    }
    case 'decided': {
      const [, question, answer] = what as SimDecision
      const text = JSON.stringify(answer)
      // Every second verb takes a moment: that is no news.
      return question.startsWith('store ') && DELAY.test(text) ? [] : [`? ${question}: ${text}`]
    }
    case 'lease': {
      const { owner, fence } = what as { readonly owner: string; readonly fence: number }
      return [`-- ${owner} has the lease, fence ${fence}`]
    }
    case 'body': {
      const { tool, call, process, args } = what as SimBody
      return [`~ ${tool} ${call} runs in p${process} ${JSON.stringify(args)}`]
    }
    case 'events':
      return (what as readonly Event[]).map((event) => `  ${lineOf(event)}`)
    case 'fault': {
      const { rule, message } = what as SimFault
      return [`! ${rule}: ${message}`]
    }
    case 'calm':
      return ['', '> everything is calm; the session is brought to rest']
    case 'cut':
      return ['', `> the log is cut behind event ${String(what)}, and another process goes on from there`]
  }
}
