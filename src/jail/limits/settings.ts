/**
 * Settings of the kernel (sysctl) for a cell's own namespaces. They are written while its /proc is still writable.
 * Stops: filling kernel memory that is not counted, or faster than it is counted.
 * Sources: inotify(7), tcp(7).
 */
/**
 * Instances of inotify of all guests in the cell's user namespace. Each keeps 16,384 events of 512 bytes, which are not
 * counted without a cgroup. The kernel's default of 128 would allow 1 GiB.
 */
export const limitWatches = {
  do: 'setting',
  path: '/proc/sys/user/max_inotify_instances',
  value: '16',
} as const

/**
 * The most that the kernel lets wait in one TCP connection at each end. With its defaults of megabytes, a guest could
 * fill 80 MiB of the machine's budget between two counts of pid 1. With 512 KiB, a connection through the loopback
 * device is as fast.
 */
export const limitTcp = [
  { do: 'setting', path: '/proc/sys/net/ipv4/tcp_rmem', value: '4096 131072 524288' },
  { do: 'setting', path: '/proc/sys/net/ipv4/tcp_wmem', value: '4096 16384 524288' },
] as const
