/** Ends several things: all of them, even if some fail, and the caller gets every failure in one error. */
import { LazaretError } from './errors/errors.ts'

export type EndStep = () => unknown

/** One after another. Throws END_FAILED, named after `what` could not be ended, when all have been tried. */
export async function endInOrder(what: string, steps: Iterable<EndStep>): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  throwIfAny(what, failures)
}

/** All at one time. Throws as `endInOrder` does. */
export async function endTogether(what: string, steps: Iterable<EndStep>): Promise<void> {
  const ends = await Promise.allSettled([...steps].map(async (step) => step()))
  throwIfAny(
    what,
    ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])),
  )
}

/** For things that end synchronously. Throws as `endInOrder` does. */
export function endAtOnce(what: string, steps: Iterable<() => void>): void {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      step()
    } catch (error) {
      failures.push(error)
    }
  }
  throwIfAny(what, failures)
}

/** All callers wait for the same end. If it fails, the next caller tries again. */
export function endOnce(end: () => Promise<void>): () => Promise<void> {
  let ending: Promise<void> | undefined
  return () =>
    (ending ??= end().catch((error: unknown) => {
      ending = undefined
      throw error
    }))
}

function throwIfAny(what: string, failures: readonly unknown[]): void {
  if (failures.length === 0) return
  const [first] = failures
  if (failures.length === 1 && first instanceof LazaretError && first.code === 'END_FAILED') throw first
  const cause =
    failures.length === 1 ? first : new AggregateError(failures, `${failures.length} steps failed.`)
  throw new LazaretError('END_FAILED', { detail: `${what}: ${failures.map(reasonOf).join(' ')}`, cause })
}

function reasonOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
