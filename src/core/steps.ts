/**
 * Work in small parts, as a generator that stops between them; its caller decides when it continues. A part takes
 * microseconds, or, if it is one call of the engine, some milliseconds.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** Runs all parts without a pause. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
