import { IDLE_MS, modelContract } from '../contract.case.ts'
import { scriptedModel } from './index.ts'

modelContract('scripted', {
  async open(script, clock) {
    const model = scriptedModel(script, { clock, idleTimeoutMs: IDLE_MS })
    return { model, complaints: () => model.failures.map((failure) => failure.message), close: () => Promise.resolve() }
  },
})
