/**
 * Rules for a guest without namespaces of its own (level `restricted`): they block what network, IPC and pid namespaces
 * would have hidden, and, if it has the service's uid, what belongs to that uid.
 */
import { call } from './lists/allow-list.ts'
import { ioctl } from './lists/ioctl-list.ts'
import { family, socket, socketType, socketpair } from './lists/socket-kinds.ts'
import { none, refuse } from './syscall-rule.ts'
import type { SyscallRule } from './syscall-rule.ts'

/** System V and POSIX queues where the IPC namespace is the host's: every id on the machine would be in reach. */
const hostIpc = refuse('ENOSYS', [
  ['shmget', 29, 194, 'Finds or makes a shared memory segment of the host.'],
  ['shmat', 30, 196, 'Maps a segment of the host; guessing its number is enough.'],
  ['shmctl', 31, 195, 'Lists and removes segments of the host.'],
  ['semget', 64, 190, 'Finds or makes a semaphore set of the host.'],
  ['semop', 65, 193, 'Changes a semaphore of the host.'],
  ['semtimedop', 220, 192, 'Changes a semaphore of the host.'],
  ['semctl', 66, 191, 'Lists and removes semaphore sets of the host.'],
  ['msgget', 68, 186, 'Finds or makes a message queue of the host.'],
  ['msgsnd', 69, 189, 'Writes to a message queue of the host.'],
  ['msgrcv', 70, 188, 'Reads from a message queue of the host.'],
  ['msgctl', 71, 187, 'Lists and removes message queues of the host.'],
  ['mq_open', 240, 180, 'Opens a named message queue of the host.'],
  ['mq_unlink', 241, 181, 'Removes a named message queue of the host.'],
])

/**
 * Landlock does not handle watches: for the kernel, permission to read a folder is enough, and events contain names.
 */
const hostWatches = refuse('ENOSYS', [
  [
    'inotify_init',
    253,
    none,
    'Creates an inotify instance. Programs try this call first, and continue without watches.',
  ],
  [
    'inotify_init1',
    294,
    26,
    'Creates an inotify instance. Programs try this call first, and continue without watches.',
  ],
  ['inotify_add_watch', 254, 27, 'Tells the names of the files that others make and open in any folder.'],
])

/**
 * Attributes are read by path, and Landlock does not check that. For programs this looks like a file system without
 * attributes.
 */
const hostAttributes = refuse('ENOSYS', [
  ['getxattr', 191, 8, 'Reads attributes of files that cannot be opened.'],
  ['lgetxattr', 192, 9, 'Reads attributes of files that cannot be opened.'],
  ['fgetxattr', 193, 10, 'Reads attributes of files that cannot be opened.'],
  ['getxattrat', 464, 464, 'Reads attributes of files that cannot be opened.'],
  ['listxattr', 194, 11, 'Lists attributes of files that cannot be opened.'],
  ['llistxattr', 195, 12, 'Lists attributes of files that cannot be opened.'],
  ['flistxattr', 196, 13, 'Lists attributes of files that cannot be opened.'],
  ['listxattrat', 465, 465, 'Lists attributes of files that cannot be opened.'],
  ['file_getattr', 468, 468, 'Reads flags of files that cannot be opened.'],
])

/** Scripts often call `touch /dev/null`. That node is the host's, and everyone may write to it. */
const hostTimes = refuse('IGNORED', [
  ['utime', 132, none, 'Changes the times of the host’s files.'],
  ['utimes', 235, none, 'Changes the times of the host’s files.'],
  ['futimesat', 261, none, 'Changes the times of the host’s files.'],
  ['utimensat', 280, 88, 'Changes the times of the host’s files.'],
])

const setpriority = call('setpriority', 141, 140)
const setDiskPriority = call('ioprio_set', 251, 30)

/**
 * Scheduling of others. In a pid namespace none of this is needed: pids resolve inside it, "every process of this
 * user" skips what it does not contain, and its pid 1 is out of reach as long as it holds one capability more than
 * the guest. Without a pid namespace these calls reach the service itself, which has the same uid.
 */
const hostScheduling: readonly SyscallRule[] = [
  {
    ...setpriority,
    action: 'EPERM',
    tests: [{ argument: 0, isNoneOf: [0] }], // PRIO_PROCESS; not a group, and not every process of the uid.
    reason: 'Slows down every process of the user that runs the service.',
  },
  {
    ...setpriority,
    action: 'EPERM',
    tests: [{ argument: 1, isNoneOf: [0] }],
    reason: 'Slows down another process.',
  },
  {
    ...setDiskPriority,
    action: 'EPERM',
    tests: [{ argument: 0, isNoneOf: [1] }], // IOPRIO_WHO_PROCESS
    reason: 'Slows down the disk of every process of the user that runs the service.',
  },
  {
    ...setDiskPriority,
    action: 'EPERM',
    tests: [{ argument: 1, isNoneOf: [0] }],
    reason: 'Slows down the disk of another process.',
  },
  ...refuse('EPERM', [
    ['sched_setaffinity', 203, 122, 'Pins the service to one core.'],
    ['sched_setscheduler', 144, 119, 'Makes the service run only when nothing else does.'],
    ['sched_setparam', 142, 118, 'Changes how another process is scheduled.'],
    ['sched_setattr', 314, 274, 'Changes how another process is scheduled.'],
  ]).map((rule) => ({ ...rule, tests: [{ argument: 0, isNoneOf: [0] }] })),
]

/** For a guest without pid, IPC and mount namespaces of its own. */
export const sharedHostRules: readonly SyscallRule[] = [
  ...hostIpc,
  ...hostWatches,
  ...hostAttributes,
  ...hostTimes,
  ...hostScheduling,
]

const noUnixSockets: SyscallRule = {
  ...socket,
  action: 'EAFNOSUPPORT',
  tests: [{ argument: 0, isOneOf: [family.unix] }],
  reason:
    'Connects to every socket of the host that has a path: Docker, D-Bus, agents. Landlock does not prevent that.',
}

/** One end of a pair could take an abstract name in the host's network namespace, where names serve as locks. */
const pairsOnly = refuse('EPERM', [
  ['bind', 49, 200, 'Takes abstract names of the host, which services use as locks.'],
  ['connect', 42, 203, 'Tells whether something listens at a path of the host.'],
  ['listen', 50, 201, 'No process could connect to it.'],
])

/**
 * Where the host's network may be used, programs bind addresses of the internet (16 or 28 bytes), of netlink (12), or
 * the 128 bytes of sockaddr_storage. One end of a pair of Unix sockets takes an abstract name with the same call. With this
 * rule it can take only names of exactly 9, 13 or 25 bytes.
 */
const internetNames: SyscallRule = {
  ...call('bind', 49, 200),
  action: 'EINVAL',
  tests: [{ argument: 2, isNoneOf: [12, 16, 28, 128] }],
  reason: 'Takes abstract names of the host, which services use as locks.',
}

/** Families are refused as a whole: nothing but this filter stands between the guest and the host's sockets. */
export function hostSocketRules(usesHostNetwork: boolean): readonly SyscallRule[] {
  return [
    ...(usesHostNetwork ? [internetNames] : pairsOnly),
    {
      ...ioctl,
      action: 'EPERM',
      tests: [{ argument: 1, mask: 0xff00, isOneOf: [0x8900] }], // SIOCGIFCONF and its relatives
      reason: 'Tells the names and addresses of the host’s network interfaces.',
    },
    usesHostNetwork
      ? noUnixSockets
      : {
          ...socket,
          action: 'EAFNOSUPPORT',
          reason: 'Without a network namespace it would reach the host’s network.',
        },
    {
      ...socketpair,
      action: 'EAFNOSUPPORT',
      // A datagram socket of a pair can send to any address afterwards; sockets of these two types are bound to each other.
      tests: [{ argument: 1, mask: socketType.mask, isNoneOf: [socketType.stream, socketType.sequenced] }],
      reason: 'One end of a pair of datagram sockets can be connected to a socket of the host.',
    },
  ]
}

/**
 * Landlock does not handle these calls (its "current limitations"), and guests own the service's files by uid. Changes of
 * modes report success and do nothing: git, tar and cp would stop at an error, and none of them needs the change.
 */
export const sharedOwnerRules: readonly SyscallRule[] = [
  ...refuse('IGNORED', [
    ['chmod', 90, none, 'Opens the service’s files to everybody, or closes them to itself.'],
    ['fchmod', 91, 52, 'The same by a descriptor, for which reading is enough.'],
    ['fchmodat', 268, 53, 'The same below a folder.'],
    ['fchmodat2', 452, 452, 'The same below a folder.'],
  ]),
  ...refuse('EPERM', [
    ['chown', 92, none, 'Gives the service’s files to another of its groups.'],
    ['lchown', 94, none, 'Gives the service’s files to another of its groups.'],
    ['fchown', 93, 55, 'Gives the service’s files to another of its groups.'],
    ['fchownat', 260, 54, 'Gives the service’s files to another of its groups.'],
    ['removexattr', 197, 14, 'Removes attributes of the service’s files, access lists among them.'],
    ['lremovexattr', 198, 15, 'Removes attributes of the service’s files, access lists among them.'],
    ['fremovexattr', 199, 16, 'Removes attributes of the service’s files, access lists among them.'],
    ['removexattrat', 466, 466, 'Removes attributes of the service’s files, access lists among them.'],
    ['file_setattr', 469, 469, 'Makes the service’s files immutable, or changes how they are stored.'],
  ]),
]
