/**
 * Waits for a state of the machine that no event announces: polls until a deadline, and then reports the last problem.
 */
import { setTimeout as pause } from 'node:timers/promises'

const intervalMs = 10

/** Resolves when `describeProblem` returns undefined; throws with its last answer after `deadlineMs`. */
export async function eventually(
  describeProblem: () => string | undefined,
  deadlineMs: number,
): Promise<void> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const problem = describeProblem()
    if (problem === undefined) return
    if (performance.now() > deadline) throw new Error(`Still so after ${deadlineMs} ms: ${problem}`)
    await pause(intervalMs)
  }
}
