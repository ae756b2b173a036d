/**
 * The allowed sockets, as combinations of family, type and protocol. A combination that no module of the running
 * kernel serves makes the kernel load one (`net-pf-2-proto-17-type-1`), so each is named as a whole.
 */
import { allow, call } from './allow-list.ts'
import type { AllowList, AllowedValue } from './allow-list.ts'
import type { ArgumentTest } from '../syscall-rule.ts'

export const socket = call('socket', 41, 198)
export const socketpair = call('socketpair', 53, 199)

export const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
/** The bits above the mask are SOCK_CLOEXEC and SOCK_NONBLOCK. */
export const socketType = { mask: 0xf, stream: 1, datagram: 2, raw: 3, sequenced: 5 }

const families = allow([
  [family.unix, 'AF_UNIX', 'Connects processes within the cell.', 'every runtime, databases'],
  [family.inet, 'AF_INET', 'IP version 4.', 'every runtime'],
  [family.inet6, 'AF_INET6', 'IP version 6.', 'every runtime'],
  [family.netlink, 'AF_NETLINK', 'Reads addresses and routes.', 'getifaddrs and getaddrinfo of glibc'],
])

const stream = [socketType.stream, 'SOCK_STREAM', 'Connections.', 'every runtime'] as const
const datagram = [socketType.datagram, 'SOCK_DGRAM', 'Messages.', 'every runtime, resolvers'] as const
const sequenced = [socketType.sequenced, 'SOCK_SEQPACKET', 'Messages in order.', 'Chromium, crun'] as const
const raw = [socketType.raw, 'SOCK_RAW', 'The same as SOCK_DGRAM for netlink.', 'glibc, Node, Bun'] as const

const unixTypes = allow([stream, datagram, sequenced])
const byDefault = [0, 'the default', 'The default of the type.', 'every runtime'] as const
const tcp = [6, 'IPPROTO_TCP', 'The default by name.', 'CPython, Bun, OpenJDK'] as const
const udp = [17, 'IPPROTO_UDP', 'The default by name.', 'CPython, resolvers'] as const

const is = (argument: number, value: number, mask?: number): ArgumentTest => ({
  argument,
  isOneOf: [value],
  ...(mask === undefined ? {} : { mask }),
})
const isType = (value: number) => is(1, value, socketType.mask)

const types = (of: number, allowed: readonly AllowedValue[]) =>
  ({ calls: [socket], argument: 1, mask: socketType.mask, when: [is(0, of)], allowed }) as const

const protocols = (of: number, type: number, allowed: readonly AllowedValue[]): AllowList => ({
  calls: [socket],
  argument: 2,
  when: [is(0, of), isType(type)],
  otherwise: 'EPROTONOSUPPORT',
  reason:
    'Protocols such as SCTP, L2TP and SMC load modules with a history of holes. Go falls back from MPTCP to TCP.',
  allowed,
})

// SOCK_RAW needs a capability anyway, and the kernel answers EPERM. The kernel turns SOCK_PACKET into AF_PACKET, which
// the list of families would not notice. The other types are SCTP and DCCP.
const rawPackets = {
  otherwise: 'EPERM',
  reason: 'Other types send raw packets, or load rarely used protocols.',
} as const

export const socketKinds: readonly AllowList[] = [
  {
    calls: [socket],
    argument: 0,
    otherwise: 'EAFNOSUPPORT',
    reason: 'Other families load rarely used modules. AF_VSOCK connects to the hypervisor.',
    allowed: families,
  },
  {
    ...types(family.unix, unixTypes),
    otherwise: 'ESOCKTNOSUPPORT',
    reason: 'SOCK_RAW is another name for SOCK_DGRAM here, and no program uses it.',
  },
  { ...types(family.inet, allow([stream, datagram])), ...rawPackets },
  { ...types(family.inet6, allow([stream, datagram])), ...rawPackets },
  {
    ...types(family.netlink, allow([datagram, raw])),
    otherwise: 'ESOCKTNOSUPPORT',
    reason: 'Netlink has no other types.',
  },
  {
    calls: [socket],
    argument: 2,
    when: [is(0, family.unix)],
    otherwise: 'EPROTONOSUPPORT',
    reason: 'Unix sockets have no protocols.',
    allowed: allow([byDefault]),
  },
  protocols(family.inet, socketType.stream, allow([byDefault, tcp])),
  protocols(
    family.inet,
    socketType.datagram,
    allow([byDefault, udp, [1, 'IPPROTO_ICMP', 'Pings without a capability.', 'ping']]),
  ),
  protocols(family.inet6, socketType.stream, allow([byDefault, tcp])),
  protocols(
    family.inet6,
    socketType.datagram,
    allow([byDefault, udp, [58, 'IPPROTO_ICMPV6', 'Pings without a capability.', 'ping']]),
  ),
  {
    calls: [socket],
    argument: 2,
    when: [is(0, family.netlink)],
    otherwise: 'EAFNOSUPPORT',
    reason: 'Other netlink protocols (firewall, audit, devices, generic) are for administrators.',
    allowed: allow([[0, 'NETLINK_ROUTE', 'Addresses and routes.', 'getifaddrs and getaddrinfo of glibc']]),
  },
  {
    calls: [socketpair],
    argument: 0,
    otherwise: 'EAFNOSUPPORT',
    reason: 'Pairs of other families, such as TIPC, load their modules.',
    allowed: allow([
      [family.unix, 'AF_UNIX', 'A pipe in both directions.', 'Node, Bun, CPython, multiprocessing'],
    ]),
  },
  {
    calls: [socketpair],
    argument: 1,
    mask: socketType.mask,
    otherwise: 'ESOCKTNOSUPPORT',
    reason: 'SOCK_RAW is another name for SOCK_DGRAM here, and no program uses it.',
    allowed: unixTypes,
  },
  {
    calls: [socketpair],
    argument: 2,
    otherwise: 'EPROTONOSUPPORT',
    reason: 'Unix sockets have no protocols.',
    allowed: allow([byDefault]),
  },
]
