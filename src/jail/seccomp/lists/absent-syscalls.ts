/**
 * Calls that pretend not to exist. Libraries probe for them and fall back on ENOSYS; on EPERM glibc, for one, would
 * fail to start a thread. Others answer as the kernel does if it cannot carry out the call, or as if it had.
 */
import { refuse } from '../syscall-rule.ts'

/**
 * Ways around this filter: what these calls do cannot be judged from their arguments, or bypasses the filter
 * altogether.
 */
const doorsAroundTheFilter = refuse('ENOSYS', [
  ['clone3', 435, 435, 'Its flags lie in memory that a filter cannot see; glibc falls back to clone.'],
  ['io_uring_setup', 425, 425, 'Runs system calls from a queue that no filter ever sees.'],
  ['io_uring_enter', 426, 426, 'Runs system calls from a queue that no filter ever sees.'],
  ['io_uring_register', 427, 427, 'Runs system calls from a queue that no filter ever sees.'],
])

/** Building blocks of exploits that programs can do without. */
const exploitTools = refuse('ENOSYS', [
  ['userfaultfd', 323, 282, 'Stops the kernel in the middle of a copy, which makes races easy to win.'],
  ['vmsplice', 278, 75, 'Puts pages of the caller into a pipe while it still writes them.'],
  ['add_key', 248, 217, 'The kernel’s keyrings are shared across namespaces.'],
  ['request_key', 249, 218, 'Keyrings again; it also starts a helper program on the host.'],
  ['keyctl', 250, 219, 'Keyrings again: reads, links and replaces keys.'],
])

/** Resources that the whole machine shares, and memory that no limit sees. */
const sharedResources = refuse('ENOSYS', [
  ['memfd_secret', 447, 447, 'Memory that the host cannot read, dump or swap.'],
  ['io_setup', 206, 0, 'Takes from fs.aio-max-nr, one pool that the guests could empty for the host.'],
  ['mbind', 237, 235, 'Its policies stay in files of memory, where no limit counts them.'],
  ['set_mempolicy', 238, 237, 'Chooses banks of memory; libnuma takes this for a machine with one.'],
  ['set_mempolicy_home_node', 450, 450, 'Chooses a bank of memory.'],
  ['get_mempolicy', 239, 236, 'What libnuma asks first: it does without the others then.'],
  ['cachestat', 451, 451, 'Tells which file pages others have read; checked for ownership only since 6.14.'],
])

/**
 * One byte taken from a TCP socket this way keeps 32 KiB of its buffer alive, in each of a pipe's 256 places, and no
 * cgroup is charged for it: half a gigabyte beside a limit of 64 MiB. EINVAL is the kernel's answer for descriptors
 * that it cannot splice; runtimes, copiers and compilers then use read and write. sendfile can do it too
 * (argument-rules.ts).
 */
const bufferKeepers = refuse('EINVAL', [
  ['splice', 275, 76, 'Keeps buffers of sockets in pipes, where no limit counts them.'],
])

/**
 * Each file made in a folder with a default access list gets a copy of it, up to 64 KiB that no cgroup is charged for
 * and no watchdog sees: 184 MiB in 0.3 s beside a limit of 64. The name of an attribute lies in memory that a filter
 * cannot see, so none can be set, as on a file system without any; tar, cp and rsync continue.
 */
const attributes = refuse('EOPNOTSUPP', [
  ['setxattr', 188, 5, 'Gives a file an access list, which nobody counts.'],
  ['lsetxattr', 189, 6, 'Gives a file an access list, which nobody counts.'],
  ['fsetxattr', 190, 7, 'Gives a file an access list, which nobody counts.'],
  ['setxattrat', 463, 463, 'Gives a file an access list, which nobody counts.'],
])

/** What a guest writes is in memory, or in a folder of the host that `fsync` of a file or folder reaches. */
const wholeMachine = refuse('IGNORED', [
  ['sync', 162, 81, 'Writes back everybody’s files, and the guest has none on a disk.'],
  ['syncfs', 306, 267, 'Writes back all files of a file system that others share.'],
])

/**
 * The readers of the mount family. They show no more than /proc/self/mountinfo, but nothing needs them yet, and
 * libmount reads that file instead when it gets ENOSYS.
 */
const mountReaders = refuse('ENOSYS', [
  ['statmount', 457, 457, 'Describes a mount by number; the file in /proc shows what the guest may know.'],
  ['listmount', 458, 458, 'Lists mounts by number; the file in /proc shows what the guest may know.'],
])

export const absentSyscalls = [
  ...doorsAroundTheFilter,
  ...exploitTools,
  ...sharedResources,
  ...bufferKeepers,
  ...attributes,
  ...wholeMachine,
  ...mountReaders,
]
