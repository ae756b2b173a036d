/**
 * Rules for a weaker machine: where no cgroup counts memory, and where the guest shares the host's namespaces.
 */
import { refuse } from './syscall-rule.ts'
import type { SyscallRule } from './syscall-rule.ts'

// MAP_SHARED is also a bit of MAP_SHARED_VALIDATE (3) and not of MAP_PRIVATE (2); 0x20 is MAP_ANONYMOUS.
const mapSharedAnonymous = 0x01 | 0x20

/**
 * Memory that neither RLIMIT_DATA nor the resident size shows. Where a cgroup counts it, it may be used; elsewhere
 * one process with a small limit could fill the machine. Bun, Node, CPython, bash, gcc and git run without.
 * A writable, shared mapping of /dev/zero is the same memory as a shared mapping without a file, and no filter can
 * tell it from a file: such a guest may open /dev/zero for reading only.
 */
export const uncountedMemoryRules: readonly SyscallRule[] = [
  ...refuse('ENOSYS', [
    ['memfd_create', 319, 279, 'A file in memory: 512 MiB fit behind a limit of 64.'],
    ['shmget', 29, 194, 'A segment that nobody has attached belongs to nobody.'],
    ['shmat', 30, 196, 'The other half of shmget, for a segment that somebody else made.'],
    ['semget', 64, 190, 'A set of 32,000 semaphores is 2 MiB of kernel memory, and 32,000 sets fit.'],
    ['msgget', 68, 186, 'Queues keep up to 16 KiB each in kernel memory, and 32,000 queues fit.'],
  ]),
  {
    name: 'mmap',
    numbers: { x64: 9, arm64: 222 },
    action: 'EPERM',
    tests: [{ argument: 3, mask: mapSharedAnonymous, isOneOf: [mapSharedAnonymous] }],
    reason:
      'Not counted by RLIMIT_DATA, and MADV_DONTNEED hides it from the resident size without freeing it.',
  },
]

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

const setpriority = { name: 'setpriority', numbers: { x64: 141, arm64: 140 } }
const setDiskPriority = { name: 'ioprio_set', numbers: { x64: 251, arm64: 30 } }

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

/** For a guest without pid and IPC namespaces of its own. */
export const sharedHostRules: readonly SyscallRule[] = [...hostIpc, ...hostScheduling]
