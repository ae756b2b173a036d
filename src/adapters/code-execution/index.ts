/** `lazaret/code-execution`: programs in V8 isolates, as a service. */
export { CodeExecutionService } from './code-execution-service.ts'
export { getAllowedModuleNames, getLibrarySource, isModuleAllowed } from './libraries.ts'
export type { CodeAction } from './action.ts'
export type {
  CodeExecutionErrorType,
  CodeExecutionParams,
  CodeExecutionResult,
  PoolStats,
  SlotEvent,
  WorkerPoolOptions,
} from './types.ts'
export { WorkerPool } from './worker-pool.ts'
