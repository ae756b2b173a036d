/** Additional rules for a machine where no cgroup counts memory. */
import { call } from './lists/allow-list.ts'
import { refuse } from './syscall-rule.ts'
import type { SyscallRule } from './syscall-rule.ts'

// MAP_SHARED is also a bit of MAP_SHARED_VALIDATE (3) and not of MAP_PRIVATE (2); 0x20 is MAP_ANONYMOUS.
const mapSharedAnonymous = 0x01 | 0x20

/** Wherever a watchdog reads the mappings or descriptors of every process. */
export const staysVisible: SyscallRule = {
  ...call('prctl', 157, 167),
  action: 'IGNORED',
  tests: [
    { argument: 0, isOneOf: [4] }, // PR_SET_DUMPABLE
    { argument: 1, isOneOf: [0] }, // Becoming dumpable again is what forks of the zygote do last.
  ],
  reason: 'Hides mappings and descriptors from the watchdog: 395 MiB of mappings with a limit of 64.',
}

/**
 * Memory that neither RLIMIT_DATA nor the resident size includes. It is allowed where a cgroup counts it; elsewhere one
 * process with a small limit could fill the machine. Bun, Node, CPython, bash, gcc and git run without it. A writable
 * shared mapping of /dev/zero gives the same memory, and a filter cannot distinguish it from a mapped file. So where these
 * rules apply, guests may open /dev/zero only for reading.
 */
export const uncountedMemoryRules: readonly SyscallRule[] = [
  ...refuse('ENOSYS', [
    ['memfd_create', 319, 279, 'A file in memory: it held 512 MiB with a limit of 64.'],
    ['shmget', 29, 194, 'A segment that no process has attached is charged to nobody.'],
    ['shmat', 30, 196, 'Maps a segment that another process made.'],
    [
      'semget',
      64,
      190,
      'A set of 32,000 semaphores takes 2 MiB of kernel memory, and there can be 32,000 sets.',
    ],
    ['msgget', 68, 186, 'Queues keep up to 16 KiB each in kernel memory, and there can be 32,000 queues.'],
    [
      'landlock_create_ruleset',
      444,
      444,
      'A ruleset keeps up to 65,536 rules in kernel memory, and each descriptor can hold one.',
    ],
  ]),
  // EINVAL is the kernel's answer for descriptors that it cannot send from; Python, Go, Java and Node then use read and
  // write.
  ...refuse('EINVAL', [
    [
      'sendfile',
      40,
      71,
      'A byte in a socket keeps a page of up to 2 MiB of a truncated file: 2.4 GiB with a limit of 64 MiB.',
    ],
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
