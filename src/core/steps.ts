/**
 * Work in small parts, as a generator that stops between them: whoever runs it decides when it goes on. A part takes
 * microseconds; a few that one call of the engine does take milliseconds.
 */
export type Steps<T> = Generator<undefined, T, undefined>

/** All of it at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
