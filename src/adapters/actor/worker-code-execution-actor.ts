/** The same protocol on isolates: for many short messages. */
import { LazaretActor } from './lazaret-actor.ts'
import type { CodeExecutionActorOptions } from './lazaret-actor.ts'

/**
 * Executes the code of each message in its own V8 isolate, in a long-lived worker inside a cell. It answers faster than
 * SubprocessCodeExecutionActor, but the first barrier around the code is the engine, not the kernel.
 */
export class WorkerCodeExecutionActor extends LazaretActor {
  /**
   * `defaultTimeoutMs` is 5000 unless it is given.
   *
   * @throws {LazaretError} INVALID_REQUEST for an invalid timeout or invalid options.
   */
  constructor(router: object, defaultTimeoutMs?: number, given: CodeExecutionActorOptions = {}) {
    super({ runtime: 'isolate' }, router, { defaultTimeoutMs, given })
  }
}
