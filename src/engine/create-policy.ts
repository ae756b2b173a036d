/** What the operator's options make of the policy. */
import type { Clock } from '../core/clock.ts'
import { policyOf } from '../policy/admit.ts'
import type { Policy } from '../policy/admit.ts'
import { createBreakers } from '../policy/breaking.ts'
import { RateLimiter } from '../policy/rate-limiter.ts'
import type { Room } from '../policy/room.ts'
import type { ParsedOptions } from './options.ts'

export function createPolicy(
  options: ParsedOptions,
  { clock, room }: { readonly clock: Clock; readonly room: Room },
): Policy {
  const { access, admit, breaker, pools, preload, rate } = options
  return policyOf({
    admit,
    access: { ...access, modules: preload },
    hasSnippets: pools.snippet?.max !== 0,
    breakers: breaker === false ? undefined : createBreakers(breaker, clock),
    rate: rate === false ? undefined : new RateLimiter({ ...rate, clock }),
    room,
  })
}
