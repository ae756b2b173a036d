/**
 * The governors of all live Lazarets in this process. An entry point that belongs to none of them, such as
 * `runSnippet()`, asks each of them: if one operator forbids something, no entry point allows it.
 */
import type { Work } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Governor } from './governor.ts'

const standing = new Set<Governor>()

/** Registers a governor until the returned function is called. */
export function stand(governor: Governor): () => void {
  standing.add(governor)
  return () => standing.delete(governor)
}

/** Throws what a policy and `act` throw. */
export function performForAll<T>(
  work: Work,
  act: () => Promise<T>,
  endOf?: (result: T) => WorkEnd,
): Promise<T> {
  const governed = [...standing].reduce(
    (inner, governor) => () => governor.perform(work, inner, endOf && { endOf }),
    act,
  )
  return governed()
}
