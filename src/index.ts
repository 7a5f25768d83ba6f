/** Turnstep: a thin loop behind a thick contract. */
export { agent } from './runtime/define/agent.ts'
export type { AgentLimits, AgentSpec } from './runtime/define/agent.ts'
export { chatModel, memoryStore, resolveModel, sqliteStore } from './presets/adapters.ts'
export type { ChatOptions, MemoryStoreOptions, ResolveOptions, SqliteStoreOptions } from './presets/adapters.ts'
export { createHarness, open } from './presets/harness.ts'
export type { CreateOptions } from './presets/harness.ts'
export { defineConfig } from './presets/config.ts'
export type { ProjectConfig } from './presets/config.ts'
export type { Harness, HarnessOptions, HarnessPorts, OpenOptions } from './runtime/session/harness.ts'
export { tool } from './runtime/define/define-tool.ts'
export { defer } from './runtime/define/tool.ts'
export type {
  Args,
  CallEnd,
  Deferred,
  InputSchema,
  JsonSchema,
  Tool,
  ToolContext,
  ToolDefinition,
  ToolError,
  ToolResult,
  Validated,
} from './runtime/define/tool.ts'
export type {
  AbortOptions,
  AnswerOptions,
  ApproveOptions,
  Ask,
  Content,
  DenyOptions,
  Live,
  PostOptions,
  Queue,
  Receipt,
  RequestContext,
  Session,
  SessionHandle,
  SessionStatus,
  SteerOptions,
  Turn,
  Watched,
} from './runtime/session.ts'
export { token } from './runtime/define/plugin.ts'
export type {
  CallDecision,
  HookContext,
  HookName,
  HookOptions,
  Hooks,
  Plugin,
  Scope,
  Token,
} from './runtime/define/plugin.ts'
export type {
  Acquired,
  Append,
  Appended,
  Changed,
  Clock,
  Consumption,
  Damage,
  Ids,
  Model,
  ModelChunk,
  ModelEnd,
  ModelReply,
  ModelRequest,
  PartialReply,
  Posted,
  QueueChanges,
  QueueMark,
  Random,
  ReadResult,
  Released,
  Repair,
  SessionRow,
  Store,
} from './runtime/ports.ts'
export type { FoundProcess, ProcessEnd, ProcessRequest, ProcessResult, RunProcess } from './runtime/processes.ts'
export type { Locale } from './runtime/wording.ts'
export { ERRORS, isTurnstepError, TurnstepError } from './kernel/errors.ts'
export type { ErrorClass, ErrorCode } from './kernel/errors.ts'
export type { Effect, InboxView, Loop, LoopSettings, View } from './kernel/effects.ts'
export type {
  CallRecord,
  EffectClass,
  EpochContent,
  Event,
  EventBody,
  EventHead,
  EventOf,
  EventType,
  Finish,
  ForeignEvent,
  GuardMode,
  Purpose,
  ResourceUse,
  StepLimitPolicy,
  ToolSpec,
  TurnLimits,
} from './kernel/events.ts'
export type { Failure, FailureKind, Usage } from './kernel/failure.ts'
export type { CallId, InputId, SessionId } from './kernel/ids.ts'
export type {
  Control,
  Lane,
  MessageInput,
  MessageLane,
  NewInput,
  PendingInput,
  PendingPolicy,
  ReceiptState,
} from './kernel/input.ts'
export type {
  AssistantMessage,
  ImagePart,
  Message,
  Messages,
  Origin,
  Part,
  ReplyPart,
  Route,
  TextPart,
  ToolMessage,
  UserMessage,
} from './kernel/message.ts'
export type { CallOutcome, Goal, NotStartedReason, OutcomeKind, TurnOutcome } from './kernel/outcome.ts'
export type { Snapshot, State } from './kernel/state.ts'
export { react } from './plugins/react/react.ts'
export { scriptedModel } from './models/scripted/index.ts'
export type { Script, ScriptedModel, ScriptedOptions, ScriptStep } from './models/scripted/index.ts'
export type { Dialect, DialectName } from './models/chat/index.ts'
export type { ProxySettings } from './models/proxy.ts'
export { codingTools } from './presets/coding-tools.ts'
export type { CodingToolsOptions } from './presets/coding-tools.ts'
export type { ShellOptions } from './tools/shell/options.ts'
export type { Cut, CutLimits, TextSize } from './util/cut.ts'
export type { Json } from './util/json.ts'
