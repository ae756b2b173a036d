/**
 * `lazaret/agent`: executes programs of agents, with the rate limits, queues and reports that they need. Each part can also
 * be used alone.
 */
export { createAgentExecutor } from './agent-executor.ts'
export type {
  AgentExecution,
  AgentExecutor,
  AgentExecutorOptions,
  AgentMetadata,
  AgentResult,
  PhaseName,
  TimeoutEvent,
  ValidationOptions,
} from './agent-types.ts'
export { toMetadata } from './metadata.ts'
export type { SubprocessMetadata } from './metadata.ts'
export { SubprocessExecutor } from './subprocess-executor.ts'
export type {
  RunsCode,
  SubprocessExecution,
  SubprocessExecutorOptions,
  SubprocessLimits,
  SubprocessResult,
} from './subprocess-executor.ts'
export type { Finding, RiskLevel, Validation, ValidationMode } from '../../core/validation.ts'
export { ExecutionMonitor } from '../../observe/execution-monitor.ts'
export type {
  ExecutionMonitorOptions,
  MonitorAlert,
  MonitorSnapshot,
} from '../../observe/execution-monitor.ts'
export { CircuitBreaker } from '../../policy/circuit-breaker.ts'
export type { BreakerOptions, CircuitBreakerOptions, Try } from '../../policy/circuit-breaker.ts'
export { ExecutionPool } from '../../policy/execution-pool.ts'
export type { ExecutionPoolOptions, Submission } from '../../policy/execution-pool.ts'
export { RateLimiter } from '../../policy/rate-limiter.ts'
export type { RateAnswer, RateLimiterOptions, RateOptions } from '../../policy/rate-limiter.ts'
export { retry } from '../../policy/retry.ts'
export type { RetryOptions } from '../../policy/retry.ts'
export { InputValidator } from '../../policy/validation/input-validator.ts'
export type { AllowedImports, InputValidatorOptions } from '../../policy/validation/input-validator.ts'
export type { Asking, RunsPrograms } from '../../policy/validation/python-analysis.ts'
export type { ValidatedLanguage } from '../../policy/validation/rules.ts'
