/** Turnstep: a thin loop behind a thick contract. */
export { agent } from './runtime/agent.ts'
export type { AgentLimits, AgentSpec } from './runtime/agent.ts'
export { chatModel, memoryStore, sqliteStore } from './presets/adapters.ts'
export type { ChatOptions, MemoryStoreOptions, SqliteStoreOptions } from './presets/adapters.ts'
export { createHarness, open } from './presets/harness.ts'
export type { CreateOptions } from './presets/harness.ts'
export { defineConfig } from './presets/config.ts'
export type { ProjectConfig } from './presets/config.ts'
export { Harness } from './runtime/harness.ts'
export type { HarnessOptions, HarnessPorts, OpenOptions } from './runtime/harness.ts'
export { tool } from './runtime/define-tool.ts'
export { defer } from './runtime/tool.ts'
export type { Args, InputSchema, Tool, ToolContext, ToolDefinition, ToolError, ToolResult } from './runtime/tool.ts'
export type {
  Ask,
  Content,
  Live,
  PostOptions,
  Queue,
  Receipt,
  RequestContext,
  Session,
  SessionHandle,
  SessionStatus,
  Turn,
  Watched,
} from './runtime/session.ts'
export type { CallDecision, HookContext, HookName, HookOptions, Hooks, Plugin, Scope, Token } from './runtime/plugin.ts'
export type {
  Append,
  Appended,
  Clock,
  Ids,
  Model,
  ModelChunk,
  ModelEnd,
  ModelReply,
  ModelRequest,
  Random,
  SessionRow,
  Store,
} from './runtime/ports.ts'
export type { Locale } from './runtime/wording.ts'
export { ERRORS, isTurnstepError, TurnstepError } from './kernel/errors.ts'
export type { ErrorClass, ErrorCode } from './kernel/errors.ts'
export type { Effect, InboxView, Loop, LoopSettings, View } from './kernel/effects.ts'
export type { CallRecord, EffectClass, Event, EventBody, EventOf, EventType, ResourceUse, StepLimitPolicy, ToolSpec } from './kernel/events.ts'
export type { Failure, FailureKind, Usage } from './kernel/failure.ts'
export type { CallId, InputId, SessionId } from './kernel/ids.ts'
export type { Lane, MessageInput, MessageLane, PendingInput, PendingPolicy, ReceiptState } from './kernel/input.ts'
export type { AssistantMessage, ImagePart, Message, Messages, Origin, Part, ReplyPart, Route, TextPart, ToolMessage, UserMessage } from './kernel/message.ts'
export type { CallOutcome, Goal, OutcomeKind, TurnOutcome } from './kernel/outcome.ts'
export type { State } from './kernel/state.ts'
export { react } from './plugins/react/react.ts'
export { scriptedModel } from './models/scripted/index.ts'
export { codingTools } from './presets/coding-tools.ts'
