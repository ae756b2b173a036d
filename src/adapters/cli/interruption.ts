/** What can end a command early from outside: the user, the system, or a reader that went away. */

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Interruption extends Disposable {
  /** Aborts when the command should stop. */
  readonly signal: AbortSignal
  /** Whether nobody reads our standard output any more, as after `lazaret run … | head -1`. */
  readonly isOutputClosed: () => boolean
  /** Why standard output could not be written, if for another reason: a full disk, a broken device. */
  readonly outputError: () => Error | undefined
}

export function watchInterruption(): Interruption {
  const controller = new AbortController()
  let isOutputClosed = false
  let outputError: Error | undefined
  const stop = (): void => controller.abort()

  // Once: whatever goes wrong while a run is being ended, the next signal has its usual effect.
  for (const signal of signals) process.once(signal, stop)
  // These stay: an error can arrive after the last write, and without a listener it would be thrown.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') isOutputClosed = true
    else outputError ??= error
    controller.abort()
  })
  process.stderr.on('error', () => undefined)

  return {
    signal: controller.signal,
    isOutputClosed: () => isOutputClosed,
    outputError: () => outputError,
    [Symbol.dispose]: () => {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}
