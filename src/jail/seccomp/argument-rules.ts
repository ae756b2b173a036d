/**
 * Calls that programs need, refused for some of their arguments. Several rules for one call are tried in order, and
 * the first that matches answers. Numbers are those of the kernel's headers, the same on both architectures.
 */
import { call } from './lists/allow-list.ts'
import { advise } from './lists/file-lists.ts'
import { setOption } from './lists/socket-options.ts'
import type { SyscallRule } from './syscall-rule.ts'

const clone = call('clone', 56, 220)
const prctl = call('prctl', 157, 167)
const prlimit64 = call('prlimit64', 302, 261)
const setrlimit = call('setrlimit', 160, 164)

// CLONE_PARENT: the new process is a child of its creator's parent.
const cloneParent = 0x00008000

// CLONE_FILES: both have one table of descriptors.
const cloneFiles = 0x00000400

// CLONE_THREAD: the new task shares the process, as every pthread does.
const cloneThread = 0x00010000

const setChildSubreaper = 36
const throwOut = 4 // POSIX_FADV_DONTNEED
const socketLevel = 1 // SOL_SOCKET
const linger = 13 // SO_LINGER
const sendBuffer = 7 // SO_SNDBUF
const receiveBuffer = 8 // SO_RCVBUF
const rlimitCore = 4
const coreReason =
  'With a limit of 0 instead of 1, the kernel pipes a crash to the host’s core handler, which is root outside the cell.'

/** For sandboxes: ending a command must end everything that it has started, and nothing else. */
export const adoptionRules: readonly SyscallRule[] = [
  {
    ...prctl,
    action: 'EPERM',
    tests: [
      { argument: 0, isOneOf: [setChildSubreaper] },
      { argument: 1, isOneOf: [0] },
    ],
    reason: 'Descendants of a command must stay below it, so that a timeout ends all of them.',
  },
]

/** For sandboxes, with the rules above or without them. */
export const parentRules: readonly SyscallRule[] = [
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneParent, isNoneOf: [0] }],
    reason: 'As a sibling of the command instead of a child, a process outlives the command’s timeout.',
  },
]

export const argumentRules: readonly SyscallRule[] = [
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneFiles | cloneThread, isOneOf: [cloneFiles] }],
    reason:
      'A lock outlives its process while another process shares the table of descriptors, and then nothing can count it.',
  },
  {
    ...prlimit64,
    action: 'EPERM',
    tests: [{ argument: 0, isNoneOf: [0] }],
    reason: 'Where guest and pid 1 share a uid, a limit of one CPU second set on pid 1 ends the cell.',
  },
  {
    ...call('sendfile', 40, 71),
    action: 'EINVAL',
    // A null pointer, both halves of it. Servers and copiers that send from a file with an offset still work.
    tests: [
      { argument: 2, isOneOf: [0] },
      { argument: 2, half: 'high', isOneOf: [0] },
    ],
    reason: 'Without an offset it can send from a socket into a pipe, as splice does.',
  },
  {
    ...setrlimit,
    action: 'IGNORED',
    tests: [{ argument: 0, isOneOf: [rlimitCore] }],
    reason: coreReason,
  },
  // Reading the limit, with no pointer to a new one, is left alone.
  ...(['low', 'high'] as const).map((half): SyscallRule => ({
    ...prlimit64,
    action: 'IGNORED',
    tests: [
      { argument: 1, isOneOf: [rlimitCore] },
      { argument: 2, isNoneOf: [0], ...(half === 'high' ? { half } : {}) },
    ],
    reason: coreReason,
  })),
  {
    ...advise,
    action: 'IGNORED',
    tests: [{ argument: 3, isOneOf: [throwOut] }],
    reason:
      'Evicts pages of shared files: others have to wait for the disk, and reveal what they read again.',
  },
  {
    ...setOption,
    action: 'IGNORED',
    tests: [
      { argument: 1, isOneOf: [socketLevel] },
      { argument: 2, isOneOf: [linger] },
    ],
    reason:
      'The last close of such a socket blocks for the linger time, in the host or in pid 1 if the socket is sent over a channel.',
  },
  {
    ...setOption,
    action: 'IGNORED',
    tests: [
      { argument: 1, isOneOf: [socketLevel] },
      { argument: 2, isOneOf: [sendBuffer, receiveBuffer] },
    ],
    reason:
      'Buffers of megabytes fill faster than pid 1 counts: 80 MiB more than the limit. It also estimates the bytes of closed senders from the size of their buffer.',
  },
  {
    ...call('personality', 135, 92),
    action: 'EPERM',
    // PER_LINUX changes nothing and 0xffffffff only asks: setarch, gdb and configure scripts do both.
    tests: [{ argument: 0, isNoneOf: [0, 0xffffffff] }],
    reason:
      'Turns off address randomization, maps page zero, and enables code that emulates old Unix systems.',
  },
]

/** For a run that may not start processes. execve stays: the launcher itself needs it once, after the filter. */
export const noSpawnRules: readonly SyscallRule[] = [
  {
    name: 'fork',
    numbers: { x64: 57, arm64: undefined },
    action: 'EPERM',
    reason: 'This run may not start processes.',
  },
  {
    name: 'vfork',
    numbers: { x64: 58, arm64: undefined },
    action: 'EPERM',
    reason: 'This run may not start processes.',
  },
  {
    ...clone,
    action: 'EPERM',
    tests: [{ argument: 0, mask: cloneThread, isOneOf: [0] }],
    reason: 'This run may not start processes; threads stay, or no runtime would start.',
  },
]
