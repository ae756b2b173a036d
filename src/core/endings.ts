/** Ends several things. A failure does not stop the others, and the caller gets all failures in one error. */
import { LazaretError } from './errors/errors.ts'

export type EndStep = () => unknown

/** Ends them one after another. After trying all, throws END_FAILED with the reason of each failure. */
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

/** Ends them all at the same time. Throws as `endInOrder` does. */
export async function endTogether(what: string, steps: Iterable<EndStep>): Promise<void> {
  const ends = await Promise.allSettled([...steps].map(async (step) => step()))
  throwIfAny(
    what,
    ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])),
  )
}

/** The same for things that end synchronously. Throws as `endInOrder` does. */
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
