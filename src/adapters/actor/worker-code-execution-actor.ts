import { LazaretError } from '../../core/errors.ts'
import { CodeExecutionActor } from './code-execution-actor.ts'

const defaultTimeoutMsUsual = 5000
const timeoutMsMax = 300_000

/**
 * The same protocol on isolates. There is no such runtime yet: every message that is in order is answered with that, and
 * none runs anywhere else, behind a wall that nobody has asked for.
 */
export class WorkerCodeExecutionActor extends CodeExecutionActor implements AsyncDisposable {
  /** As it was given. */
  readonly router: object

  constructor(router: object, defaultTimeoutMs: number = defaultTimeoutMsUsual) {
    super({ defaultTimeoutMs, timeoutMsMax }, () =>
      Promise.reject(
        new LazaretError('RUNTIME_UNAVAILABLE', {
          detail: 'RUNTIME_UNAVAILABLE: this version has no runtime `isolate`.',
          hint: 'Use SubprocessCodeExecutionActor, which has the same protocol.',
        }),
      ),
    )
    this.router = router
  }

  async dispose(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose()
  }
}
