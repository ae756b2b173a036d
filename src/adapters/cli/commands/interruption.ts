/** What can end a command early from outside: the user, the system, or a reader that disconnected. */
import { constants } from 'node:os'
import { resetOn } from '../output/terminal-text.ts'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption extends Disposable {
  /** Aborts when the command should stop. */
  readonly signal: AbortSignal
  /**
   * Performs work that ends when the signal aborts, and that cleans up if it has the time. At any other time a signal
   * ends the process at once, because whatever the process waits for may never come.
   */
  readonly duringRun: <T>(work: () => Promise<T>) => Promise<T>
  /** Whether the reader of standard output is gone, as after `lazaret run … | head -1`. */
  readonly isOutputClosed: () => boolean
  /** Why standard output could not be written, if for another reason: a full disk, a broken device. */
  readonly outputError: () => Error | undefined
}

export function watchInterruption(): Interruption {
  const controller = new AbortController()
  let isOutputClosed = false
  let outputError: Error | undefined
  let isRunning = false
  const stop = (name: (typeof signals)[number]): void => {
    if (isRunning) {
      controller.abort()
      return
    }
    process.stderr.write(`${resetOn(process.stderr)}lazaret: cancelled\n`)
    // `process.exit` would wait for pending reads. The listener is gone by now, so this signal ends the process, unless
    // it is pid 1 of a container, which ignores signals without a handler.
    process.kill(process.pid, name)
    process.exit(128 + constants.signals[name])
  }

  // `once`, so a second signal has its usual effect even if ending the run fails.
  for (const signal of signals) process.once(signal, stop)
  // These listeners stay, because an error can arrive after the last write, and without a listener it would be thrown.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') isOutputClosed = true
    else outputError ??= error
    controller.abort()
  })
  process.stderr.on('error', () => undefined)

  return {
    signal: controller.signal,
    async duringRun(work) {
      isRunning = true
      try {
        return await work()
      } finally {
        isRunning = false
      }
    },
    isOutputClosed: () => isOutputClosed,
    outputError: () => outputError,
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}
