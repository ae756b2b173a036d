/** Rules for a machine where no cgroup counts memory. */
import { call } from './lists/allow-list.ts'
import { setOption } from './lists/socket-options.ts'
import { refuse } from './syscall-rule.ts'
import type { SyscallRule } from './syscall-rule.ts'

// MAP_SHARED is also a bit of MAP_SHARED_VALIDATE (3) and not of MAP_PRIVATE (2); 0x20 is MAP_ANONYMOUS.
const mapSharedAnonymous = 0x01 | 0x20

const socketLevel = 1 // SOL_SOCKET
const sendBuffer = 7 // SO_SNDBUF

/** Wherever a watchdog reads the mappings or descriptors of every process. */
export const staysVisible: SyscallRule = {
  ...call('prctl', 157, 167),
  action: 'IGNORED',
  tests: [
    { argument: 0, isOneOf: [4] }, // PR_SET_DUMPABLE
    { argument: 1, isOneOf: [0] }, // Becoming dumpable again is what forks of the zygote do last.
  ],
  reason: 'Hides mappings and descriptors from the watchdog: 395 MiB of the first behind a limit of 64.',
}

/**
 * Memory that neither RLIMIT_DATA nor the resident size shows. With a cgroup that counts it, it is allowed; otherwise
 * one process with a small limit could fill the machine. Bun, Node, CPython, bash, gcc and git run without it. A
 * writable, shared mapping of /dev/zero is the same memory as a shared mapping without a file, and no filter can tell
 * it from a file: such a guest may open /dev/zero for reading only.
 */
export const uncountedMemoryRules: readonly SyscallRule[] = [
  ...refuse('ENOSYS', [
    ['memfd_create', 319, 279, 'A file in memory: 512 MiB fit behind a limit of 64.'],
    ['shmget', 29, 194, 'A segment that nobody has attached belongs to nobody.'],
    ['shmat', 30, 196, 'The other half of shmget, for a segment that somebody else made.'],
    ['semget', 64, 190, 'A set of 32,000 semaphores is 2 MiB of kernel memory, and 32,000 sets fit.'],
    ['msgget', 68, 186, 'Queues keep up to 16 KiB each in kernel memory, and 32,000 queues fit.'],
    [
      'landlock_create_ruleset',
      444,
      444,
      'A set keeps 65,536 rules in kernel memory, and each descriptor may be one.',
    ],
  ]),
  // EINVAL is the kernel's answer for descriptors that it cannot send from; Python, Go, Java and Node then use read and
  // write.
  ...refuse('EINVAL', [
    [
      'sendfile',
      40,
      71,
      'A byte in a socket keeps its page of a file that is cut, a page of up to 2 MiB: 2.4 GiB behind a limit of 64 MiB.',
    ],
  ]),
  {
    ...setOption,
    action: 'IGNORED',
    tests: [
      { argument: 1, isOneOf: [socketLevel] },
      { argument: 2, isOneOf: [sendBuffer] },
    ],
    reason:
      'What closed senders leave in a queue is judged by the size of a send buffer, so that stays what it is.',
  },
  {
    name: 'mmap',
    numbers: { x64: 9, arm64: 222 },
    action: 'EPERM',
    tests: [{ argument: 3, mask: mapSharedAnonymous, isOneOf: [mapSharedAnonymous] }],
    reason:
      'Not counted by RLIMIT_DATA, and MADV_DONTNEED hides it from the resident size without freeing it.',
  },
]
