/**
 * Which failures count against whom: faults of Lazaret against the runtime, timeouts and out-of-memory kills only
 * against the client.
 */
import type { Clock } from '../core/clock.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Work } from '../core/work.ts'
import { Breakers } from './circuit-breaker.ts'
import type { BreakerOptions } from './circuit-breaker.ts'

export interface WorkBreakers {
  readonly runtimes: Breakers
  readonly clients: Breakers
}

export function createBreakers(options: BreakerOptions, clock: Clock): WorkBreakers {
  return { runtimes: new Breakers({ ...options, clock }), clients: new Breakers({ ...options, clock }) }
}

/** One execution, for both breakers. */
export interface WorkTry {
  readonly record: (end: WorkEnd) => void
  /** It did not begin. */
  readonly takeBack: () => void
}

/** What faults of Lazaret count against. */
function nameOf(work: Work): string {
  if ('runtime' in work) return work.runtime
  return work.kind === 'validation' ? 'validation' : 'sandbox'
}

/** Throws CIRCUIT_OPEN. */
export function tryBoth(work: Work, { runtimes, clients }: WorkBreakers): WorkTry {
  const ours = runtimes.of(nameOf(work)).try()
  let theirs
  try {
    theirs = clients.of(work.client ?? '').try()
  } catch (error) {
    ours.takeBack()
    throw error
  }
  const takeBack = () => {
    ours.takeBack()
    theirs.takeBack()
  }
  return {
    takeBack,
    record({ outcome }) {
      // Neither says anything about the runtime or the code.
      if (outcome === 'refused' || outcome === 'cancelled') return takeBack()
      ours.recordResult(outcome !== 'fault')
      if (outcome === 'fault') return theirs.takeBack()
      return theirs.recordResult(outcome !== 'timed-out' && outcome !== 'out-of-memory')
    },
  }
}
