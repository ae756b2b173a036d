/**
 * Calls that get ENOSYS, as if they did not exist. Libraries try them and fall back; with EPERM glibc, for one, could not
 * start a thread. The last lists use the error of a call that the kernel cannot carry out, or report success.
 */
import { refuse } from '../syscall-rule.ts'

/**
 * Ways around this filter: either the arguments of these calls do not show what they do, or the calls bypass the filter.
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
  ['mbind', 237, 235, 'Its policies stay with files in memory, where no limit counts them.'],
  ['set_mempolicy', 238, 237, 'Chooses memory nodes; libnuma then assumes a machine with one.'],
  ['set_mempolicy_home_node', 450, 450, 'Chooses a memory node.'],
  [
    'get_mempolicy',
    239,
    236,
    'The call that libnuma tries first; without it libnuma does not use the others.',
  ],
  ['cachestat', 451, 451, 'Tells which file pages others have read; checked for ownership only since 6.14.'],
])

/**
 * One byte that splice takes from a TCP socket keeps 32 KiB of the socket's buffer alive, in each of a pipe's 256 slots.
 * No cgroup is charged for it: half a gigabyte with a limit of 64 MiB. The kernel returns EINVAL for descriptors that it
 * cannot splice; runtimes, copiers and compilers then use read and write. sendfile can do the same (argument-rules.ts).
 */
const bufferKeepers = refuse('EINVAL', [
  ['splice', 275, 76, 'Keeps buffers of sockets in pipes, where no limit counts them.'],
])

/**
 * Each file made in a folder with a default access list gets a copy of that list: up to 64 KiB that no cgroup is charged
 * for and no watchdog sees (184 MiB in 0.3 s with a limit of 64). A filter cannot read the name of an attribute, so no
 * attribute can be set, as on a file system without them; tar, cp and rsync continue.
 */
const attributes = refuse('EOPNOTSUPP', [
  ['setxattr', 188, 5, 'Gives a file an access list, whose memory no limit counts.'],
  ['lsetxattr', 189, 6, 'Gives a file an access list, whose memory no limit counts.'],
  ['fsetxattr', 190, 7, 'Gives a file an access list, whose memory no limit counts.'],
  ['setxattrat', 463, 463, 'Gives a file an access list, whose memory no limit counts.'],
])

/** Guests write to memory, or to a folder of the host, for which `fsync` of a file or folder is enough. */
const wholeMachine = refuse('IGNORED', [
  ['sync', 162, 81, 'Writes back the files of the whole machine; guests have none on a disk.'],
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
