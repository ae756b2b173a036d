/** Executes programs in isolates, as a service: initialized once, used often, shut down at the end. */
import { getLibrarySource, isModuleAllowed, getAllowedModuleNames, readAdded } from './libraries.ts'
import { paramsOfAction } from './action.ts'
import type { CodeAction } from './action.ts'
import { readOptions } from './read-options.ts'
import type { CodeExecutionParams, CodeExecutionResult, PoolStats, WorkerPoolOptions } from './types.ts'
import { WorkerPool } from './worker-pool.ts'
import { writeRefusal } from './write-result.ts'

/**
 * @example
 * ```ts
 * await using service = new CodeExecutionService()
 * const { output } = await service.execute({
 *   code: 'output = input.a + 1',
 *   language: 'javascript',
 *   inputData: { a: 1 },
 * })
 * ```
 */
export class CodeExecutionService implements AsyncDisposable {
  readonly #pool: WorkerPool
  readonly #libraries: Readonly<Record<string, string>>
  readonly #hasDefaults: boolean

  /** Throws INVALID_REQUEST for invalid options. */
  constructor(options: WorkerPoolOptions = {}) {
    const { libraries, replaceLibraries } = readOptions(options)
    this.#pool = new WorkerPool(options)
    this.#libraries = libraries
    this.#hasDefaults = !replaceLibraries
  }

  /** Starts the workers; otherwise the first `execute()` does. It may be called repeatedly and concurrently. */
  initialize(): Promise<void> {
    return this.#pool.initialize()
  }

  /** Never rejects: whatever happens is a result. */
  execute(params: CodeExecutionParams): Promise<CodeExecutionResult> {
    return this.#pool.execute(params)
  }

  /** The same for an agent's action, whose input is JSON text. */
  async executeCodeAction(action: CodeAction): Promise<CodeExecutionResult> {
    const params = paramsOfAction(action)
    return typeof params === 'string' ? writeRefusal(params) : this.execute(params)
  }

  getStats(): PoolStats {
    return this.#pool.getStats()
  }

  /**
   * Refuses queued programs, gives running ones five seconds, and ends the workers. `initialize()` works again
   * afterwards.
   */
  shutdown(): Promise<void> {
    return this.#pool.shutdown()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown()
  }

  /** Whether a program may require it. */
  isModuleAllowed(name: string): boolean {
    return Object.hasOwn(this.#libraries, name) || (this.#hasDefaults && isModuleAllowed(name))
  }

  /** A copy of the names that a program may require. */
  getAllowedModuleNames(): string[] {
    return [
      ...new Set([...(this.#hasDefaults ? getAllowedModuleNames() : []), ...Object.keys(this.#libraries)]),
    ]
  }

  /** A library's source text; null for a name that programs may not require. */
  getLibrarySource(name: string): string | null {
    const added = Object.hasOwn(this.#libraries, name) ? this.#libraries[name] : undefined
    if (added !== undefined) return readAdded(name, added)
    return this.#hasDefaults ? getLibrarySource(name) : null
  }
}
