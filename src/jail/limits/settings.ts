/**
 * Settings of the kernel (sysctl) for a cell's own namespaces. They are written while its /proc is still writable.
 * Stops: filling kernel memory that is not counted, or faster than it is counted.
 * Sources: inotify(7), tcp(7).
 */
import type { PlanRecord } from '../plan/plan-records.ts'
import type { CellShape } from '../plan/shape.ts'
import type { SourceGround } from '../view/sources.ts'

const instances = '/proc/sys/user/max_inotify_instances'
/** What the kernel lets the owner of a user namespace have by default, with all guests in it. */
const instancesOfOwner = 128

/**
 * Instances of inotify. Each keeps 16,384 events of 512 bytes, which are not counted without a cgroup: the kernel's default
 * of 128 would allow 1 GiB. With a cgroup, guests of one cell that have ids of their own have equal parts of what the
 * cell's owner may have, so that none takes those of another one.
 */
export function planWatches(
  { guests = 1 }: Pick<CellShape, 'guests'>,
  { memoryHeldByCgroup, kind }: Pick<SourceGround, 'memoryHeldByCgroup' | 'kind'>,
): PlanRecord[] {
  if (!memoryHeldByCgroup) return [{ do: 'setting', path: instances, value: '16' }]
  if (guests === 1 || kind === 'shared') return []
  return [{ do: 'setting', path: instances, value: `${Math.max(1, Math.floor(instancesOfOwner / guests))}` }]
}

/**
 * The most that the kernel lets wait in one TCP connection at each end. With its defaults of megabytes, a guest could
 * fill 80 MiB of the machine's budget between two counts of pid 1. With 512 KiB, a connection through the loopback
 * device is as fast.
 */
export const limitTcp = [
  { do: 'setting', path: '/proc/sys/net/ipv4/tcp_rmem', value: '4096 131072 524288' },
  { do: 'setting', path: '/proc/sys/net/ipv4/tcp_wmem', value: '4096 16384 524288' },
] as const
