/** The public test kit: what our own tests use to hold an agent, a tool or a loop to the contract without a network and without waiting. */
export { drainMicrotasks, FakeClock } from './fake-clock.ts'
export { replay, simulate } from './sim/simulate.ts'
export { Chance } from './sim/chance.ts'
export type {
  SimAction,
  SimBody,
  SimCheck,
  SimDecision,
  SimFailure,
  SimFault,
  SimInput,
  SimMove,
  SimReport,
  SimScenario,
  SimSeen,
  SimStage,
  SimulateOptions,
  SimWorld,
} from './sim/sim.ts'
export { foldAll } from '../runtime/runner/load.ts'
export { emptyState, fold } from '../kernel/fold.ts'
export { refusal } from '../kernel/legality.ts'
export type { RuleBreak } from '../kernel/legality.ts'
export { TranscriptCheck } from '../kernel/transcript.ts'
export type { TranscriptFault } from '../kernel/transcript.ts'
export { scriptedModel } from '../models/scripted/index.ts'
export type {
  Emit,
  Expectation,
  Fault,
  Script,
  ScriptedModel,
  ScriptedOptions,
  ScriptFailure,
  ScriptStep,
  ScriptTurn,
  Stop,
  When,
} from '../models/scripted/index.ts'
export { modelServer } from './server/server.ts'
export type { ModelServer, ModelServerOptions } from './server/server.ts'
export type { RequestRecord } from './server/record.ts'
export { noSyncPoints } from '../runtime/sync-points.ts'
export type { SyncPoint, SyncPoints } from '../runtime/sync-points.ts'
export type { TortureCall, TortureCheck, TortureRun } from '../protocol/torture.ts'
