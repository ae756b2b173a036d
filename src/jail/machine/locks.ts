/**
 * Locks on files: the kernel charges them to nobody, so pid 1 counts them (native/cell/watch/files/locks.c).
 * Stops: hoarding kernel memory. Does not stop: locks made between two measurements, see `locksBetweenLooks`.
 * Sources: proc_locks(5), fs/locks.c.
 */
import type { PlanRecord } from '../plan/plan-records.ts'

/** 3 MiB. Programs hold a few dozen; a large database some thousands. */
export const locksMax = 16_384

/** A processor makes 700 in a millisecond, and measurements are a quarter of a second apart. */
export const locksBetweenLooks = 250_000

export const countLocks: PlanRecord = { do: 'count-locks', path: '/proc/locks', most: locksMax }
