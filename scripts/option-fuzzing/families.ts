/** The families of options: which calls, with which numbers. The numbers come from the kernel's headers. */
import type { Draft } from './draft.ts'

export interface Family {
  readonly name: string
  /** The descriptors and data that its calls need. */
  readonly wants?: 'a socket'
  /** How often, relative to the others. */
  readonly weight: number
  readonly draft: (draft: Draft) => void
}

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

const levels = [0, 1, 1, 1, 6, 6, 6, 17, 41, 41, 58, 136, 255, 263, 270, 271, 273, 279, 282, 284]
const prctlOptions = [...range(1, 80), 0x53564d41, 0x59616d61]
const ioctls = [
  ...range(0x5401, 0x5460),
  ...range(0x8901, 0x8957),
  ...range(0x89a0, 0x89b2),
  ...range(0x89f0, 0x89f3),
  ...[0x541b, 0x5421, 0x5450, 0x5452, 0x8946, 0x89e0, 0x89e1, 0x89e2],
  ...[0x80086601, 0x40086602, 0xc020660b, 0x40049409, 0x4020940d, 0xc0189436, 0x801c581f, 0x401c5820],
  ...[0x80045430, 0x40045431, 0x5441, 0x80045439, 0x80045440, 0x40045436, 0x402c542b],
  ...[0x5490, 0x40085400, 0xc0c0583b, 0x5380, 0x1261, 0x125e, 0x80081272, 0xb701, 0xb704],
]
const fcntls = [...range(0, 17), ...range(36, 38), ...range(1024, 1042)]
const mapFlags = [1, 2, 3, 0x10, 0x20, 0x100, 0x800, 0x2000, 0x4000, 0x8000, 0x40000, 0x80000, 0x100000]
const mapSizes = [4096, 65_536, 1 << 20, 2 << 20, 8 << 20]
const cloneFlags = [
  ...[0x80, 0x200, 0x400, 0x800, 0x2000, 0x8000, 0x10000, 0x20000, 0x40000, 0x80000, 0x200000, 0x800000],
  ...[0x1000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000],
]
/** SIGCHLD, so that the kernel reaps the child. */
const childSignal = 17

const setOption = (draft: Draft) => {
  const choose = draft.options('setsockopt', { 1: levels, 2: range(0, 84) })
  draft.call('setsockopt', draft.socket(), choose(1), choose(2), draft.data(), draft.length())
}

const getOption = (draft: Draft) => {
  const choose = draft.options('getsockopt', { 1: levels, 2: range(0, 84) })
  draft.call('getsockopt', draft.socket(), choose(1), choose(2), draft.data(), '@length')
}

const map = (draft: Draft) => {
  const choose = draft.options('mmap', { 3: mapFlags })
  const flags = draft.chance(0.3) ? draft.pick([0x22, 0x21, 0x40022, 0x8022, 2, 1]) : choose(3)
  const from = Number(flags) & 0x20 ? '-1' : draft.descriptor()
  const at = draft.call('mmap', 0, draft.pick(mapSizes), draft.pick([0, 1, 3, 3, 3, 5]), flags, from, 0)
  if (draft.chance(0.5)) draft.call('madvise', at, draft.pick(mapSizes), draft.integer())
  if (draft.chance(0.3)) draft.call('mbind', at, draft.pick(mapSizes), draft.integer(), '@node-0', 64, 0)
  if (draft.chance(0.5)) draft.call('mlock2', at, draft.pick(mapSizes), draft.pick([0, 1]))
  if (draft.chance(0.8)) draft.call('munmap', at, draft.pick(mapSizes))
}

const share = (draft: Draft) => {
  const choose = draft.options('shmget', { 2: [0o1600, 0o7600, 0o5600, 0o11600] })
  const made = draft.call('shmget', 0, 1 << 20, Number(choose(2)) | 0o1600)
  const at = draft.call('shmat', made, 0, 0)
  draft.call('shmctl', made, draft.pick([0, 0, 1, 2, 11, 12, 13, 14, 15]), '@zero')
  draft.call('shmdt', at)
}

const advise = (draft: Draft) => {
  const choose = draft.options('madvise', { 2: [...range(0, 25), ...range(100, 103)] })
  draft.call('madvise', draft.pick(['m0', 'm0x1000', 'm0x100000']), draft.pick(mapSizes), choose(2))
}

const control = (draft: Draft) => {
  const choose = draft.options('prctl', { 0: prctlOptions })
  draft.call('prctl', choose(0), ...range(0, 3).map(() => draft.anything()))
}

const deviceControl = (draft: Draft) => {
  const choose = draft.options('ioctl', { 1: ioctls })
  draft.call('ioctl', draft.descriptor(), choose(1), draft.anything())
}

const fileControl = (draft: Draft) => {
  const choose = draft.options('fcntl', { 1: fcntls })
  const third = draft.chance(0.5) ? draft.pick(['@read-lock', '@write-lock']) : draft.anything()
  draft.call('fcntl', draft.descriptor(), choose(1), third)
}

const makeProcess = (draft: Draft) => {
  const choose = draft.options('clone', { 0: cloneFlags })
  const flags = draft.chance(0.5) ? draft.flags(cloneFlags) : choose(0)
  draft.call('clone', (Number(flags) & ~0xff) | childSignal, 0, '@zero', '@zero', 0)
}

const readAndWrite = (draft: Draft) => {
  const name = draft.pick(['preadv2', 'pwritev2'])
  const choose = draft.options(name, { 5: [0, 1, 2, 4, 8, 16, 32, 64, 128] })
  draft.call(name, draft.descriptor(), '@vector', 1, draft.pick([0, -1, 4096]), 0, choose(5))
  const advice = draft.options('fadvise64', { 3: range(0, 7) })
  if (draft.chance(0.4)) draft.call('fadvise64', draft.descriptor(), 0, 0, advice(3))
}

const transfer = (draft: Draft) => {
  const flags = [1, 2, 4, 8, 0x20, 0x40, 0x80, 0x100, 0x2000, 0x4000, 0x4000000, 0x8000000, 0x20000000]
  const sends = draft.options('sendto', { 3: flags })
  if (draft.chance(0.5)) draft.call('sendto', draft.socket(), 'm0', draft.length(), sends(3), 0, 0)
  else draft.call('sendmsg', draft.socket(), '@message', draft.options('sendmsg', { 2: flags })(2))
  const name = draft.pick(['recvfrom', 'recvmsg'])
  const receives = draft.options(name, { 2: flags, 3: flags })
  const rest = name === 'recvfrom' ? ['m0', 4096, receives(3), 0, 0] : ['@message', receives(2)]
  draft.call(name, draft.socket(), ...rest)
  if (draft.chance(0.2)) draft.call('shutdown', draft.socket(), draft.pick([0, 1, 2]))
}

const others: readonly (readonly [name: string, ...known: (readonly number[] | undefined)[]])[] = [
  ['fallocate', undefined, [0, 1, 2, 3, 8, 16, 32, 64], [0], [4096, 1 << 20, 1 << 30]],
  ['flock', undefined, [1, 2, 5, 6, 8]],
  ['sync_file_range', undefined, [0], [0, 4096], range(0, 7)],
  ['splice', undefined, [0], undefined, [0], [1, 4096], [0, 1, 2, 4, 8]],
  ['tee', undefined, undefined, [1, 4096], [0, 2]],
  ['copy_file_range', undefined, [0], undefined, [0], [1, 4096], [0]],
  ['timerfd_settime', undefined, [0, 1, 2, 3]],
  ['epoll_ctl', undefined, [1, 2, 3]],
  ['landlock_create_ruleset', undefined, [16, 24], [0, 1, 2]],
  ['set_mempolicy', range(0, 6), undefined, [0, 64]],
  ['seccomp', [0, 1, 2, 3], [0, 1, 2, 4, 8, 16, 32]],
  ['prlimit64', [0], range(0, 15)],
  ['setrlimit', range(0, 15)],
  ['ioprio_set', [1, 2, 3], [0]],
  ['setpriority', [0, 1, 2], [0], [0, 10, 19]],
  ['membarrier', [0, 1, 2, 4, 8, 16, 32, 64, 128], [0, 1]],
  ['mremap', undefined, mapSizes, mapSizes, [0, 1, 3, 5]],
  ['mincore', undefined, mapSizes],
  ['utimensat', undefined],
  ['fchmod', undefined, [0o600, 0o777]],
  ['keyctl', range(0, 32)],
  ['msgget', [0], [0o1600]],
  ['semget', [0], [1, 100], [0o1600]],
  ['personality', [0, 0xffffffff, 0x40000]],
  ['arch_prctl', [0x1001, 0x1003, 0x1004, 0x1011, 0x1022, 0x5001, 0x5002, 0x5003]],
  ['userfaultfd', [0, 1, 0o4000]],
  ['bpf', range(0, 37), undefined, [16, 72, 128]],
  ['perf_event_open', undefined, [0], [-1, 0], [-1], [0, 8]],
  ['process_madvise', undefined],
  ['fsetxattr', undefined],
  ['pidfd_open', [1, 2], [0, 0o200]],
  ['futex', undefined, [...range(0, 13), ...range(128, 141)]],
]

const another = (draft: Draft) => {
  const [name, ...known] = draft.pick(others)
  const choose = draft.options(
    name,
    Object.fromEntries(known.flatMap((list, at) => (list ? [[at, list]] : []))),
  )
  const words = range(0, 5).map((at) =>
    known[at] === undefined ? draft.pick([draft.descriptor(), draft.data(), draft.integer()]) : choose(at),
  )
  draft.call(name, ...words)
}

/**
 * Any number except those by which a process would only end or wait: exit, pause, sigsuspend, execve and similar
 * calls.
 */
const ends = [15, 34, 56, 57, 58, 59, 60, 130, 231, 322, 435]
const anyNumber = (draft: Draft) => {
  const number = Math.floor(draft.random() * 480)
  if (process.arch === 'x64' && !ends.includes(number))
    draft.call(`#${number}`, ...range(0, 5).map(() => draft.anything()))
}

export const families: readonly Family[] = [
  { name: 'setsockopt', wants: 'a socket', weight: 14, draft: setOption },
  { name: 'getsockopt', wants: 'a socket', weight: 5, draft: getOption },
  { name: 'prctl', weight: 10, draft: control },
  { name: 'ioctl', weight: 10, draft: deviceControl },
  { name: 'fcntl', weight: 8, draft: fileControl },
  { name: 'mmap', weight: 8, draft: map },
  { name: 'shm', weight: 2, draft: share },
  { name: 'madvise', weight: 4, draft: advise },
  { name: 'clone', weight: 2, draft: makeProcess },
  { name: 'preadv2', weight: 4, draft: readAndWrite },
  { name: 'transfer', wants: 'a socket', weight: 6, draft: transfer },
  { name: 'other', weight: 10, draft: another },
  { name: 'any', weight: 5, draft: anyNumber },
]
