/** Messages: the flags of send and receive, and the commands of System V queues and semaphores. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

const sent = allow([
  [0x4, 'MSG_DONTROUTE', 'Stays on the local network.', 'routing daemons'],
  [0x40, 'MSG_DONTWAIT', 'Does not wait.', 'Bun, CPython, libuv'],
  [0x80, 'MSG_EOR', 'Ends a record.', 'programs with SOCK_SEQPACKET'],
  [0x800, 'MSG_CONFIRM', 'Says that the other end lives.', 'DHCP clients'],
  [0x4000, 'MSG_NOSIGNAL', 'Sends no SIGPIPE.', 'Bun, PostgreSQL, Rust, glibc'],
  [0x8000, 'MSG_MORE', 'Says that more follows.', 'nginx, OpenJDK, curl'],
])

const received = allow([
  [0x1, 'MSG_OOB', 'Reads what the other end sent as urgent.', 'telnet, ftp, CPython’s tests'],
  [0x2, 'MSG_PEEK', 'Reads and leaves it there.', 'CPython’s tests, OpenJDK, PostgreSQL'],
  [0x20, 'MSG_TRUNC', 'Asks how long it was.', 'resolvers, iproute2'],
  [0x40, 'MSG_DONTWAIT', 'Does not wait.', 'Bun, CPython, libuv'],
  [0x100, 'MSG_WAITALL', 'Waits until it is full.', 'CPython, clients in C'],
  [0x2000, 'MSG_ERRQUEUE', 'Reads errors.', 'ping, traceroute, QUIC libraries'],
  [0x4000, 'MSG_NOSIGNAL', 'Means nothing here.', 'programs that use the same flags as to send'],
  [0x10000, 'MSG_WAITFORONE', 'Waits for the first of several.', 'DNS servers, libuv'],
  [0x40000000, 'MSG_CMSG_CLOEXEC', 'Closes received descriptors at exec.', 'CPython, D-Bus, Wayland'],
])

const toSend = {
  isFlags: true,
  otherwise: 'EOPNOTSUPP',
  reason:
    'Urgent data of Unix sockets was a way into the kernel (CVE-2025-38236), and a filter cannot tell one socket from another; the rest avoids copies or skips the handshake.',
  allowed: sent,
} as const

const toReceive = {
  isFlags: true,
  otherwise: 'EOPNOTSUPP',
  reason: 'There is nothing else that a program asks for.',
  allowed: received,
} as const

const descriptions = [
  [0, 'IPC_RMID', 'Removes it.', 'multiprocessing in C, ipcrm'],
  [1, 'IPC_SET', 'Changes who may use it.', 'servers that change their uid'],
  [2, 'IPC_STAT', 'Describes it.', 'PHP, Perl'],
  [3, 'IPC_INFO', 'Tells the limits.', 'ipcs'],
] as const

export const messageLists: readonly AllowList[] = [
  { ...toSend, calls: [call('sendto', 44, 206), call('sendmmsg', 307, 269)], argument: 3 },
  { ...toSend, calls: [call('sendmsg', 46, 211)], argument: 2 },
  { ...toReceive, calls: [call('recvfrom', 45, 207), call('recvmmsg', 299, 243)], argument: 3 },
  { ...toReceive, calls: [call('recvmsg', 47, 212)], argument: 2 },
  {
    calls: [call('semctl', 66, 191)],
    argument: 2,
    otherwise: 'EINVAL',
    reason: 'There is nothing else but asking without the right to.',
    allowed: allow([
      ...descriptions,
      [11, 'GETPID', 'Tells who changed it.', 'PostgreSQL'],
      [12, 'GETVAL', 'Tells its value.', 'PostgreSQL, PHP'],
      [13, 'GETALL', 'Tells all values.', 'Perl'],
      [14, 'GETNCNT', 'Tells how many wait.', 'PHP, Perl'],
      [15, 'GETZCNT', 'Tells how many wait.', 'PHP, Perl'],
      [16, 'SETVAL', 'Sets its value.', 'PostgreSQL, PHP'],
      [17, 'SETALL', 'Sets all values.', 'Perl'],
      [18, 'SEM_STAT', 'Describes one by its place.', 'ipcs'],
      [19, 'SEM_INFO', 'Tells how many there are.', 'ipcs'],
    ]),
  },
  {
    calls: [call('msgctl', 71, 187)],
    argument: 1,
    otherwise: 'EINVAL',
    reason: 'There is nothing else but asking without the right to.',
    allowed: allow([
      ...descriptions,
      [11, 'MSG_STAT', 'Describes one by its place.', 'ipcs'],
      [12, 'MSG_INFO', 'Tells how many there are.', 'ipcs'],
    ]),
  },
  {
    calls: [call('msgrcv', 70, 188)],
    argument: 4,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'Copies for checkpoints, with a history of holes.',
    allowed: allow([
      [0o4000, 'IPC_NOWAIT', 'Does not wait.', 'PHP, Perl'],
      [0o10000, 'MSG_NOERROR', 'Cuts what is too long.', 'PHP, Perl'],
      [0o20000, 'MSG_EXCEPT', 'Takes all but one kind.', 'PHP'],
    ]),
  },
]
