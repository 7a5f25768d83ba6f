import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { membersOf, textsOf, variantsOf } from './declared.ts'
const read = (p: string) => readFileSync(new URL(`../../${p}`, import.meta.url), 'utf8')
it('x', () => {
  console.log(JSON.stringify(variantsOf(read('src/kernel/events.ts'), 'EventBody', 'type'), null, 0))
  console.log(membersOf(read('src/runtime/plugin.ts'), 'Hooks'), membersOf(read('src/runtime/agent.ts'), 'AgentLimits'))
  console.log(variantsOf(read('src/kernel/outcome.ts'), 'TurnOutcome'), variantsOf(read('src/kernel/outcome.ts'), 'CallOutcome'), textsOf(read('src/kernel/outcome.ts'), 'NotStartedReason'), variantsOf(read('src/runtime/session.ts'), 'SessionStatus'))
  expect(1).toBe(1)
})
