/**
 * The governors of all Lazarets that stand in this process. A door that belongs to none of them, such as `runSnippet()`,
 * asks each: what one operator has forbidden is not had by another door.
 */
import type { Work } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Governor } from './governor.ts'

const standing = new Set<Governor>()

/** Until what it returns is called. */
export function stand(governor: Governor): () => void {
  standing.add(governor)
  return () => standing.delete(governor)
}

/** Throws what a policy throws, and what `act` throws. */
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
