/**
 * What strict providers refuse in a history. A check of its own, which shares nothing with the one in the product: this is what the
 * product is held against.
 */
import type { Message, Part, ReplyPart } from 'turnstep'

/** The text of some parts. */
export function textOf(parts: readonly (Part | ReplyPart)[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Everything in a history that would be answered with a 400. Empty: it is valid. */
export function faultsOf(history: readonly Message[]): string[] {
  const faults: string[] = []
  const known = new Set<string>()
  const answered = new Set<string>()
  let open: string[] = []
  const close = (): void => {
    for (const call of open) faults.push(`no result of ${call}`)
    open = []
  }
  for (const message of history) {
    if (message.role === 'tool') {
      faults.push(...resultFaults(message.call, { open, known, answered }))
      open = open.filter((call) => call !== message.call)
      answered.add(message.call)
      continue
    }
    close()
    if (message.role === 'user') {
      if (textOf(message.content) === '') faults.push('an empty message of the user')
      continue
    }
    if (known.size === 0 && message === history[0]) faults.push('the assistant speaks first')
    if (message.calls.length === 0 && textOf(message.parts) === '') faults.push('an empty reply')
    for (const { id, args } of message.calls) {
      if (known.has(id)) faults.push(`the call ${id} twice`)
      if (!isObject(args)) faults.push(`arguments of ${id} that are no object`)
      known.add(id)
      open.push(id)
    }
  }
  close()
  return faults
}

/** A result has to belong to an open call, and to come in the order of the calls. */
function resultFaults(
  call: string,
  { open, known, answered }: Readonly<Record<'known' | 'answered', ReadonlySet<string>>> & { readonly open: string[] },
): string[] {
  if (open[0] === call) return []
  if (open.includes(call)) return [`the result of ${call} before that of ${open[0]}`]
  if (answered.has(call)) return [`two results of ${call}`]
  return [known.has(call) ? `a late result of ${call}` : `a result of ${call}, which nobody called`]
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** The calls of which a history tells its reader that the outcome is unknown, in words. */
export function toldUnknown(history: readonly Message[]): string[] {
  return history.flatMap((message) =>
    message.role === 'tool' && /outcome unknown/i.test(textOf(message.content)) ? [message.call] : [],
  )
}
