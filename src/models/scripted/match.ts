/** Which requests a step answers. */
import { textOf } from '../../kernel/message.ts'
import { found, type Pattern, type When } from './script.ts'
import type { RequestView } from './view.ts'

/** Whether everything that `when` names holds for the request. */
export function matches(when: When, view: RequestView): boolean {
  return (
    fits(when.attempt, () => view.attempt) &&
    fits(when.noTools, () => view.callsForbidden) &&
    fits(when.results, () => view.resultsSinceUser) &&
    holds(when.lastUser, () => view.lastUser) &&
    holds(when.lastResult, () => textOf(view.newResults.at(-1)?.content ?? [])) &&
    holds(when.system, () => view.request.system) &&
    (when.tool === undefined || when.tool === null || view.toolNames.includes(when.tool))
  )
}

function fits<Value>(wanted: Value | null | undefined, seen: () => Value): boolean {
  return wanted === undefined || wanted === null || wanted === seen()
}

function holds(pattern: Pattern | null | undefined, text: () => string): boolean {
  return pattern === undefined || pattern === null || found(pattern, text())
}
