import { IDLE_MS, modelContract } from '../contract.case.ts'
import type { DialectName } from './dialects.ts'
import { chatModel } from './index.ts'
import { chatServer } from './server.case.ts'
import type { StrictRules } from './strict.case.ts'

const wires: readonly (readonly [DialectName, StrictRules])[] = [
  ['generic', {}],
  ['deepseek', { reasoning: 'spans', textOnly: true }],
]

for (const [dialect, rules] of wires) {
  modelContract(`chat, ${dialect}`, {
    async open(script, clock) {
      const server = await chatServer(script, rules)
      const model = chatModel({
        provider: 'local',
        model: 'm1',
        baseUrl: server.url,
        apiKey: 'key',
        dialect,
        clock,
        idleTimeoutMs: IDLE_MS,
        firstChunkTimeoutMs: IDLE_MS,
      })
      return { model, complaints: () => server.complaints, close: () => server.close() }
    },
  })
}
