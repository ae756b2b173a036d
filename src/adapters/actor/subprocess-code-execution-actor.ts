/** The actor for untrusted code: the protocol on the engine's `bun` runtime. */
import { LazaretActor } from './lazaret-actor.ts'
import type { CodeExecutionActorOptions } from './lazaret-actor.ts'

/**
 * Executes the code of each message in its own Bun process, in its own cell, where it can reach only the language and a
 * console; `docs/guide/actors.md` has the protocol.
 *
 * @example
 * ```ts
 * await using actor = new SubprocessCodeExecutionActor(new MessageRouter(), 5000)
 * const { payload } = await actor.receive({ type: 'execute', payload: { code: '1 + 1' } })
 * ```
 */
export class SubprocessCodeExecutionActor extends LazaretActor {
  /**
   * `defaultTimeoutMs` is 5000 unless it is given.
   *
   * @throws {LazaretError} INVALID_REQUEST for an invalid timeout or invalid options.
   */
  constructor(router: object, defaultTimeoutMs?: number, given: CodeExecutionActorOptions = {}) {
    super({ runtime: 'bun', realm: 'bare' }, router, { defaultTimeoutMs, given })
  }
}
