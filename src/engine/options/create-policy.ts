/** Creates the policy from the operator's options. */
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { HeldTotal, HostAccount } from '../../core/host-account.ts'
import { policyOf } from '../../policy/admit.ts'
import type { Policy } from '../../policy/admit.ts'
import { createBreakers } from '../../policy/breaking.ts'
import { RateLimiter } from '../../policy/rate-limiter.ts'
import { Room } from '../../policy/room.ts'
import { availableMemory, resolveHeldBytes, resolveRoom, withinRoom } from '../../policy/room-size.ts'
import type { ParsedOptions } from './options.ts'

interface OpenRoom {
  readonly room: Room
  readonly account: HostAccount
  readonly clock: Clock
  readonly options: ParsedOptions
}

/** One heap has room for the default of one Lazaret, so several of a process together hold no more than that. */
const heldByProcess = new HeldTotal(resolveHeldBytes({}, availableMemory))

/**
 * The room for all work, and the account of what clients make the host hold. The returned options have its size, and no ceiling
 * above it.
 */
export function openRoom(parsed: ParsedOptions): OpenRoom {
  const { clock = systemClock } = parsed
  const size = resolveRoom(parsed.queue, availableMemory)
  const options = { ...parsed, queue: size, ceilings: withinRoom(parsed.ceilings, size) }
  const account = new HostAccount(resolveHeldBytes(parsed.queue, availableMemory), heldByProcess)
  return { room: new Room({ ...size, clock }), account, clock, options }
}

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
