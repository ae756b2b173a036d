/** Messages: the flags of send and receive, and the commands of System V queues and semaphores. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

const sent = allow([
  [0x4, 'MSG_DONTROUTE', 'Sends only on the local network.', 'routing daemons'],
  [0x40, 'MSG_DONTWAIT', 'Does not block.', 'Bun, CPython, libuv'],
  [0x80, 'MSG_EOR', 'Ends a record.', 'programs with SOCK_SEQPACKET'],
  [0x800, 'MSG_CONFIRM', 'Confirms that the peer is reachable.', 'DHCP clients'],
  [0x4000, 'MSG_NOSIGNAL', 'Raises no SIGPIPE.', 'Bun, PostgreSQL, Rust, glibc'],
  [0x8000, 'MSG_MORE', 'Announces that more data follows.', 'nginx, OpenJDK, curl'],
])

const received = allow([
  [0x1, 'MSG_OOB', 'Reads urgent data.', 'telnet, ftp, CPython’s tests'],
  [0x2, 'MSG_PEEK', 'Reads data without removing it.', 'CPython’s tests, OpenJDK, PostgreSQL'],
  [0x20, 'MSG_TRUNC', 'Returns the real length of a truncated packet.', 'resolvers, iproute2'],
  [0x40, 'MSG_DONTWAIT', 'Does not block.', 'Bun, CPython, libuv'],
  [0x100, 'MSG_WAITALL', 'Waits until the buffer is full.', 'CPython, clients in C'],
  [0x2000, 'MSG_ERRQUEUE', 'Reads pending errors.', 'ping, traceroute, QUIC libraries'],
  [0x4000, 'MSG_NOSIGNAL', 'Has no effect when receiving.', 'programs that use the same flags for sending'],
  [0x10000, 'MSG_WAITFORONE', 'Waits only for the first of several messages.', 'DNS servers, libuv'],
  [0x40000000, 'MSG_CMSG_CLOEXEC', 'Closes received descriptors at exec.', 'CPython, D-Bus, Wayland'],
])

const toSend = {
  isFlags: true,
  otherwise: 'EOPNOTSUPP',
  reason:
    'Urgent data of Unix sockets was a way into the kernel (CVE-2025-38236), and a filter cannot distinguish sockets. The other flags avoid copies or skip the handshake.',
  allowed: sent,
} as const

const toReceive = {
  isFlags: true,
  otherwise: 'EOPNOTSUPP',
  reason: 'No program needs other flags.',
  allowed: received,
} as const

const descriptions = [
  [0, 'IPC_RMID', 'Removes the queue or set.', 'multiprocessing in C, ipcrm'],
  [1, 'IPC_SET', 'Changes owner and permissions.', 'servers that change their uid'],
  [2, 'IPC_STAT', 'Describes the queue or set.', 'PHP, Perl'],
  [3, 'IPC_INFO', 'Returns the limits.', 'ipcs'],
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
    reason: 'The only other command reads without checking permissions.',
    allowed: allow([
      ...descriptions,
      [11, 'GETPID', 'Returns the process that changed a semaphore last.', 'PostgreSQL'],
      [12, 'GETVAL', 'Returns the value of a semaphore.', 'PostgreSQL, PHP'],
      [13, 'GETALL', 'Returns all values of a set.', 'Perl'],
      [14, 'GETNCNT', 'Returns how many processes wait for a semaphore to rise.', 'PHP, Perl'],
      [15, 'GETZCNT', 'Returns how many processes wait for a semaphore to become zero.', 'PHP, Perl'],
      [16, 'SETVAL', 'Sets the value of a semaphore.', 'PostgreSQL, PHP'],
      [17, 'SETALL', 'Sets all values of a set.', 'Perl'],
      [18, 'SEM_STAT', 'Describes a set by its index.', 'ipcs'],
      [19, 'SEM_INFO', 'Returns the number of sets and semaphores.', 'ipcs'],
    ]),
  },
  {
    calls: [call('msgctl', 71, 187)],
    argument: 1,
    otherwise: 'EINVAL',
    reason: 'The only other command reads without checking permissions.',
    allowed: allow([
      ...descriptions,
      [11, 'MSG_STAT', 'Describes a queue by its index.', 'ipcs'],
      [12, 'MSG_INFO', 'Returns the number of queues and messages.', 'ipcs'],
    ]),
  },
  {
    calls: [call('msgrcv', 70, 188)],
    argument: 4,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'MSG_COPY serves checkpoints, and has a history of holes.',
    allowed: allow([
      [0o4000, 'IPC_NOWAIT', 'Does not block.', 'PHP, Perl'],
      [0o10000, 'MSG_NOERROR', 'Truncates a message that is too long.', 'PHP, Perl'],
      [0o20000, 'MSG_EXCEPT', 'Takes any message except one type.', 'PHP'],
    ]),
  },
]
