/** Which failures count against whom: our faults against the runtime, timeouts and memory deaths against the client alone. */
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

/** One execution, as both breakers see it. */
export interface WorkTry {
  readonly record: (end: WorkEnd) => void
  /** It did not begin. */
  readonly takeBack: () => void
}

/** Throws CIRCUIT_OPEN. */
export function tryBoth(work: Work, { runtimes, clients }: WorkBreakers): WorkTry {
  const ours = runtimes.of('runtime' in work ? work.runtime : 'sandbox').try()
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
      // Neither says anything of the runtime or of the code.
      if (outcome === 'refused' || outcome === 'cancelled') return takeBack()
      ours.recordResult(outcome !== 'fault')
      if (outcome === 'fault') return theirs.takeBack()
      return theirs.recordResult(outcome !== 'timed-out' && outcome !== 'out-of-memory')
    },
  }
}
