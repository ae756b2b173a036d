/**
 * Namespaces: each cell has its own processes, mounts, network, IPC, host name and users.
 * Stops: seeing, signalling or reaching anything of the host. Does not stop: what the kernel does not put into a
 * namespace (time, kernel log, side channels).
 * Source: namespaces(7), linux/sched.h.
 */
import type { NetworkMode } from '../../core/network.ts'

export const namespaceFlags = {
  mount: 0x0002_0000,
  cgroup: 0x0200_0000,
  uts: 0x0400_0000,
  ipc: 0x0800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const

/** Unshared by pid 1 itself once it is in its cgroup, so that the cgroup becomes its root. */
export const cgroupNamespace = namespaceFlags.cgroup

/** Inside a cell: with their own user namespace, spaces could not mount a full /proc where parts of it are masked. */
export function spaceNamespaces(mode: NetworkMode): number {
  return cellNamespaces(mode) & ~namespaceFlags.user
}

/**
 * For the first space of a sandbox. Nothing else uses the network, IPC and host name of its cell, whose pid 1 runs no
 * guest, so they are that space's. A network namespace costs 90 KiB and 0.2 ms of processor time.
 */
export const firstSpaceNamespaces = namespaceFlags.pid | namespaceFlags.mount

export function cellNamespaces(mode: NetworkMode): number {
  const { user, pid, mount, ipc, uts, network } = namespaceFlags
  return user | pid | mount | ipc | uts | (mode === 'none' ? network : 0)
}
