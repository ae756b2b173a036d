/** `lazaret/actor`: code execution as messages between actors. */
export { MessageRouter } from './message-router.ts'
export type { Actor } from './message-router.ts'
export { SubprocessCodeExecutionActor } from './subprocess-code-execution-actor.ts'
export type { CodeExecutionActorOptions } from './lazaret-actor.ts'
export { WorkerCodeExecutionActor } from './worker-code-execution-actor.ts'
export type { ExecutePayload, ExecutionPayload, Message, MessageResponse } from './message.ts'
