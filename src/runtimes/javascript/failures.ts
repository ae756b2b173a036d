/**
 * How the program ends after an uncaught error, or when it awaits a promise that never settles. Node's rules apply in
 * every runtime: an uncaught error or unhandled rejection ends the program with exit code 1, unless it listens for them.
 */
import { defineProperty, uncurryThis, utf8 } from '../../core/primordials.ts'
import { sendEnd } from './channel.ts'
import { reportError } from './errors.ts'
import { writeAll } from './console/output.ts'
import { unquote } from './modules/quoted-names.ts'

const stderr = 2
const failureExitCode = 1
/** Node's exit code for a top-level await that was never settled. */
export const unsettledExitCode = 13

// Guest code may delete or shadow the global.
const program = process
const functionApply = Function.prototype.apply
const { emit: firstEmit } = process
const emit = uncurryThis(firstEmit as (event: string, ...rest: unknown[]) => boolean)
const on = uncurryThis(process.on as (event: string, listener: (value: unknown) => void) => unknown)
const listenerCount = uncurryThis(process.listenerCount)
const exit: (code: number) => never = process.exit.bind(process)
const kill = process.kill.bind(process, process.pid, 'SIGKILL')

export interface Failures {
  /** Ends the program with what its top level threw. */
  readonly fail: (thrown: unknown) => void
  /** Whether the completion value is being awaited. */
  readonly setWaiting: (isWaiting: boolean) => void
}

export function watchFailures(code: string): Failures {
  let isWaiting = false
  let isDrained = false
  let isLast = false
  const fail = (thrown: unknown, origin: string): void => {
    unquote(thrown)
    if (isListening('uncaughtException')) return void emit(program, 'uncaughtException', thrown, origin)
    reportError(code, thrown)
    exitNow()
  }
  listen('uncaughtException', (thrown) => {
    if (!isListening('uncaughtException')) fail(thrown, 'uncaughtException')
  })
  listen('unhandledRejection', (reason) => {
    if (!isListening('unhandledRejection')) fail(reason, 'unhandledRejection')
  })
  listen('beforeExit', () => {
    isDrained = true
    // Checked here too: before the `exit` listener below runs, an earlier one may have removed itself or later ones.
    isLast = endsHere()
  })
  // Bun reports a promise that was rejected in its last callback only after `beforeExit`.
  listen('exit', (exitCode) => {
    if (!isDrained) return
    if (!isWaiting) {
      if (isLast && endsHere() && typeof exitCode === 'number') sendEnd(exitCode)
    } else if (program.exitCode === undefined) {
      writeAll(stderr, utf8('Warning: the program ended while it awaited something at its top level\n'))
      program.exitCode = unsettledExitCode
    }
  })
  return {
    fail: (thrown) => fail(thrown, 'uncaughtException'),
    setWaiting: (value) => {
      isWaiting = value
    },
  }
}

/** Whether the guest's program listens, besides the harness. */
const isListening = (event: string): boolean => listenerCount(program, event) > 1

/** Whether no guest code runs when the program ends. Packages such as `signal-exit` replace `emit`. */
const endsHere = (): boolean =>
  !isListening('beforeExit') && !isListening('exit') && program.emit === firstEmit

export function listen(event: string, listener: (value: unknown) => void): void {
  // Node calls a listener through its `apply`, which guest code may have replaced on the prototype.
  defineProperty(listener, 'apply', { value: functionApply })
  on(program, event, listener)
}

/** Runs the program's exit listeners, and ends the process even if guest code has broken `process.exit`. */
export function exitNow(exitCode = failureExitCode): never {
  try {
    return exit(exitCode)
  } finally {
    kill()
  }
}
