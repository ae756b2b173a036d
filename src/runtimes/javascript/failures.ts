/**
 * How the program ends when an error reaches its top, or when it waits for what never happens. Node's rules, in every
 * runtime: an uncaught error or unhandled rejection ends it with exit code 1, unless the program listens for them.
 */
import { uncurryThis, utf8 } from '../../core/primordials.ts'
import { reportError } from './errors.ts'
import { writeAll } from './output.ts'

const stderr = 2
const failureExitCode = 1
/** Node's exit code for a top-level await that was never settled. */
const unsettledExitCode = 13

const emit = uncurryThis(process.emit as (event: string, ...rest: unknown[]) => boolean)
const on = uncurryThis(process.on as (event: string, listener: (value: unknown) => void) => unknown)
const listenerCount = uncurryThis(process.listenerCount as (event: string) => number)
const exit = process.exit.bind(process) as (code: number) => never
const kill = process.kill.bind(process, process.pid, 'SIGKILL')

export interface Failures {
  /** Ends the program with what its top level threw. */
  readonly fail: (thrown: unknown) => void
  /** The completion value is being waited for, or no longer. */
  readonly setWaiting: (isWaiting: boolean) => void
}

export function watchFailures(code: string): Failures {
  let isWaiting = false
  let isDrained = false
  const fail = (thrown: unknown, origin: string): void => {
    // Ours is one of them.
    if (listenerCount(process, 'uncaughtException') > 1)
      return void emit(process, 'uncaughtException', thrown, origin)
    reportError(code, thrown)
    exitNow()
  }
  on(process, 'uncaughtException', (thrown) => {
    if (listenerCount(process, 'uncaughtException') === 1) fail(thrown, 'uncaughtException')
  })
  on(process, 'unhandledRejection', (reason) => {
    if (listenerCount(process, 'unhandledRejection') === 1) fail(reason, 'unhandledRejection')
  })
  on(process, 'beforeExit', () => {
    isDrained = true
  })
  on(process, 'exit', () => {
    if (!isWaiting || !isDrained || process.exitCode !== undefined) return
    writeAll(stderr, utf8('Warning: the program ended while it awaited something at its top level\n'))
    process.exitCode = unsettledExitCode
  })
  return {
    fail: (thrown) => fail(thrown, 'uncaughtException'),
    setWaiting: (value) => {
      isWaiting = value
    },
  }
}

/** Runs the program's exit listeners, and ends even if guest code has broken the way out. */
export function exitNow(): never {
  try {
    return exit(failureExitCode)
  } finally {
    kill()
  }
}
