/**
 * Options of sockets by level and name, which the kernel takes as int: one list for setting and for asking. The kernel
 * itself refuses to set read-only options, and two calls with one list share their part of the filter.
 */
import { allow, call } from './allow-list.ts'
import type { AllowList, AllowedValue } from './allow-list.ts'

export const setOption = call('setsockopt', 54, 208)
const getOption = call('getsockopt', 55, 209)

interface Level {
  readonly level: number
  readonly name: string
  readonly options: readonly AllowedValue[]
  readonly reason: string
}

const socketLevel: Level = {
  level: 1,
  name: 'SOL_SOCKET',
  reason:
    'Filters are compiled into memory that the whole machine shares and nobody is charged for; the others reserve or keep memory, pace, poll, mark, or need a capability.',
  options: allow([
    [2, 'SO_REUSEADDR', 'Takes a port that was in use.', 'every server'],
    [3, 'SO_TYPE', 'Tells the type.', 'CPython, libuv'],
    [4, 'SO_ERROR', 'Tells how connecting ended.', 'every runtime'],
    [5, 'SO_DONTROUTE', 'Stays on the local network.', 'OpenJDK, CPython'],
    [6, 'SO_BROADCAST', 'Sends to everybody.', 'OpenJDK, Node, CPython'],
    [7, 'SO_SNDBUF', 'Says how much may wait to be sent.', 'Node, asyncio, OpenJDK'],
    [8, 'SO_RCVBUF', 'Says how much may wait to be read.', 'Node, asyncio, OpenJDK'],
    [9, 'SO_KEEPALIVE', 'Asks whether the other end lives.', 'every client of databases, Redis'],
    [10, 'SO_OOBINLINE', 'Leaves urgent data in line.', 'OpenJDK, telnet, ssh'],
    [12, 'SO_PRIORITY', 'Orders what is sent from one host.', 'Asterisk, chrony'],
    [13, 'SO_LINGER', 'Says how to close; setting it changes nothing.', 'Bun, OpenJDK, CPython’s tests'],
    [14, 'SO_BSDCOMPAT', 'Means nothing any more.', 'older programs'],
    [15, 'SO_REUSEPORT', 'Shares a port with oneself.', 'asyncio, OpenJDK, nginx, Bun'],
    [16, 'SO_PASSCRED', 'Asks who sends.', 'D-Bus, systemd, CPython’s tests'],
    [17, 'SO_PEERCRED', 'Tells who is at the other end.', 'D-Bus, PostgreSQL, CPython'],
    [18, 'SO_RCVLOWAT', 'Says when to wake.', 'gRPC, CPython’s tests'],
    [19, 'SO_SNDLOWAT', 'Tells a constant.', 'CPython’s tests'],
    [20, 'SO_RCVTIMEO', 'Says how long to wait.', 'CPython’s tests, clients in C'],
    [21, 'SO_SNDTIMEO', 'Says how long to wait.', 'CPython’s tests, clients in C'],
    [25, 'SO_BINDTODEVICE', 'Chooses an interface.', 'ping, curl, dnsmasq'],
    [28, 'SO_PEERNAME', 'Tells the other address.', 'older programs'],
    [29, 'SO_TIMESTAMP', 'Asks when it came.', 'ping, tcpdump-like tools'],
    [30, 'SO_ACCEPTCONN', 'Tells whether it listens.', 'libuv, systemd, CPython'],
    [31, 'SO_PEERSEC', 'Tells a label.', 'D-Bus'],
    [35, 'SO_TIMESTAMPNS', 'Asks when it came.', 'ping, chrony'],
    [38, 'SO_PROTOCOL', 'Tells the protocol.', 'CPython'],
    [39, 'SO_DOMAIN', 'Tells the family.', 'CPython, Rust'],
    [40, 'SO_RXQ_OVFL', 'Asks how many were dropped.', 'QUIC libraries'],
    [49, 'SO_INCOMING_CPU', 'Asks which processor took it.', 'servers with a thread a processor'],
    [59, 'SO_PEERGROUPS', 'Tells the other end’s groups.', 'D-Bus'],
    [62, 'SO_BINDTOIFINDEX', 'Chooses an interface.', 'curl, avahi'],
  ]),
}

const ipLevel: Level = {
  level: 0,
  name: 'IPPROTO_IP',
  reason:
    'Groups are memory that nobody is charged for; the others are for routers, firewalls and IPsec, whose code loads modules.',
  options: allow([
    [1, 'IP_TOS', 'Marks the kind of traffic.', 'Node, OpenJDK, ssh'],
    [2, 'IP_TTL', 'Says how far it goes.', 'Node, traceroute'],
    [6, 'IP_RECVOPTS', 'Asks for what came along.', 'CPython'],
    [8, 'IP_PKTINFO', 'Asks to which address it came.', 'Go, dnsmasq, QUIC libraries'],
    [10, 'IP_MTU_DISCOVER', 'Says whether to split packets.', 'QUIC libraries, glibc’s resolver'],
    [11, 'IP_RECVERR', 'Asks for errors.', 'glibc’s resolver, ping, traceroute'],
    [12, 'IP_RECVTTL', 'Asks how far it came.', 'ping, traceroute'],
    [13, 'IP_RECVTOS', 'Asks for marks.', 'QUIC libraries'],
    [14, 'IP_MTU', 'Tells the largest packet.', 'tracepath, QUIC libraries'],
    [15, 'IP_FREEBIND', 'Takes an address that is not there yet.', 'HAProxy, Redis'],
    [20, 'IP_RECVORIGDSTADDR', 'Asks to which address it was sent.', 'proxies'],
    [21, 'IP_MINTTL', 'Takes only what comes from near.', 'routing daemons'],
    [24, 'IP_BIND_ADDRESS_NO_PORT', 'Takes a port at connect.', 'OpenJDK, nginx, HAProxy'],
    [32, 'IP_MULTICAST_IF', 'Chooses an interface.', 'OpenJDK, Node, CPython'],
    [33, 'IP_MULTICAST_TTL', 'Says how far it goes.', 'OpenJDK, Node, CPython'],
    [34, 'IP_MULTICAST_LOOP', 'Hears itself.', 'OpenJDK, Node, CPython'],
    [49, 'IP_MULTICAST_ALL', 'Hears what others joined.', 'OpenJDK, libuv, Rust'],
    [50, 'IP_UNICAST_IF', 'Chooses an interface.', 'Wine'],
    [51, 'IP_LOCAL_PORT_RANGE', 'Chooses among fewer ports.', 'proxies'],
  ]),
}

const ipv6Level: Level = {
  level: 41,
  name: 'IPPROTO_IPV6',
  reason:
    'Groups, headers and flow labels are memory that nobody is charged for, one table of it for all; changing the family of a socket and IPsec are holes of the past.',
  options: allow([
    [16, 'IPV6_UNICAST_HOPS', 'Says how far it goes.', 'Node, ping'],
    [17, 'IPV6_MULTICAST_IF', 'Chooses an interface.', 'OpenJDK, Node'],
    [18, 'IPV6_MULTICAST_HOPS', 'Says how far it goes.', 'OpenJDK, Node'],
    [19, 'IPV6_MULTICAST_LOOP', 'Hears itself.', 'OpenJDK, Node'],
    [23, 'IPV6_MTU_DISCOVER', 'Says whether to split packets.', 'QUIC libraries, glibc’s resolver'],
    [24, 'IPV6_MTU', 'Says and tells the largest packet.', 'tracepath, dnsmasq'],
    [25, 'IPV6_RECVERR', 'Asks for errors.', 'glibc’s resolver, ping, traceroute'],
    [26, 'IPV6_V6ONLY', 'Takes no IPv4.', 'every server'],
    [29, 'IPV6_MULTICAST_ALL', 'Hears what others joined.', 'libuv, Rust'],
    [49, 'IPV6_RECVPKTINFO', 'Asks to which address it came.', 'OpenJDK, Go, CPython’s tests'],
    [51, 'IPV6_RECVHOPLIMIT', 'Asks how far it came.', 'CPython’s tests, ping'],
    [60, 'IPV6_RECVPATHMTU', 'Asks for path sizes.', 'QUIC libraries'],
    [62, 'IPV6_DONTFRAG', 'Does not split packets.', 'QUIC libraries'],
    [66, 'IPV6_RECVTCLASS', 'Asks for marks.', 'CPython’s tests, QUIC libraries'],
    [67, 'IPV6_TCLASS', 'Marks the kind of traffic.', 'OpenJDK, Node, ssh'],
    [72, 'IPV6_ADDR_PREFERENCES', 'Chooses among addresses.', 'resolvers'],
    [73, 'IPV6_MINHOPCOUNT', 'Takes only what comes from near.', 'routing daemons'],
    [74, 'IPV6_RECVORIGDSTADDR', 'Asks to which address it was sent.', 'proxies'],
    [76, 'IPV6_UNICAST_IF', 'Chooses an interface.', 'Wine'],
    [78, 'IPV6_FREEBIND', 'Takes an address that is not there yet.', 'HAProxy'],
  ]),
}

const tcpLevel: Level = {
  level: 6,
  name: 'IPPROTO_TCP',
  reason:
    'Keys of peers are memory that nobody is charged for; upper protocols (TLS), repair and zero copies are code that few review, and loads modules.',
  options: allow([
    [1, 'TCP_NODELAY', 'Sends at once.', 'every runtime'],
    [2, 'TCP_MAXSEG', 'Says how large a packet may be.', 'iperf, VPNs'],
    [3, 'TCP_CORK', 'Sends when it is full.', 'Bun, nginx'],
    [4, 'TCP_KEEPIDLE', 'Says when to ask whether the other end lives.', 'Node, Bun, Redis, OpenJDK'],
    [5, 'TCP_KEEPINTVL', 'Says how often.', 'Node, Bun, Redis, OpenJDK'],
    [6, 'TCP_KEEPCNT', 'Says how many times.', 'Node, Bun, Redis, OpenJDK'],
    [7, 'TCP_SYNCNT', 'Says how often to try.', 'clients of databases'],
    [8, 'TCP_LINGER2', 'Says how long to wait for the end.', 'HAProxy'],
    [9, 'TCP_DEFER_ACCEPT', 'Wakes when there is data.', 'Bun, nginx, Apache'],
    [10, 'TCP_WINDOW_CLAMP', 'Bounds what may come.', 'proxies'],
    [11, 'TCP_INFO', 'Describes the connection.', 'Go, iperf, nginx'],
    [12, 'TCP_QUICKACK', 'Answers at once.', 'OpenJDK, Redis clients'],
    [13, 'TCP_CONGESTION', 'Tells and chooses the algorithm, of those that are loaded.', 'iperf, CPython'],
    [18, 'TCP_USER_TIMEOUT', 'Says when to give up.', 'gRPC, PostgreSQL, Go, Bun'],
    [25, 'TCP_NOTSENT_LOWAT', 'Says when to wake.', 'nginx, HTTP/2 libraries'],
  ]),
}

const udpLevel: Level = {
  level: 17,
  name: 'IPPROTO_UDP',
  reason: 'Encapsulation and segments are code for VPNs and offloads; QUIC libraries work without it.',
  options: allow([[1, 'UDP_CORK', 'Sends when it is full.', 'DNS servers']]),
}

const netlinkLevel: Level = {
  level: 270,
  name: 'SOL_NETLINK',
  reason: 'For administrators.',
  options: allow([
    [1, 'NETLINK_ADD_MEMBERSHIP', 'Receives changes of addresses.', 'ip monitor, Qt, Chromium'],
    [2, 'NETLINK_DROP_MEMBERSHIP', 'Stops receiving them.', 'ip monitor, Qt'],
    [3, 'NETLINK_PKTINFO', 'Asks for the group.', 'libnl'],
    [10, 'NETLINK_CAP_ACK', 'Wants short answers.', 'systemd, iproute2'],
    [11, 'NETLINK_EXT_ACK', 'Wants errors with words.', 'iproute2'],
    [12, 'NETLINK_GET_STRICT_CHK', 'Wants what it asks for only.', 'iproute2'],
  ]),
}

const levels = [socketLevel, tcpLevel, ipLevel, ipv6Level, udpLevel, netlinkLevel]

const noSuchOption = { argument: 2, otherwise: 'ENOPROTOOPT' } as const

const atLevel = ({ level }: Level) => [{ argument: 1, isOneOf: [level] }]

export const socketOptions: readonly AllowList[] = [
  {
    calls: [setOption, getOption],
    argument: 1,
    otherwise: 'ENOPROTOOPT',
    reason: 'Other levels are protocols that guests have not, and firewalls.',
    allowed: levels.map(({ level, name }) => ({
      value: level,
      name,
      use: 'Options of this level, by their own list.',
      neededBy: 'every runtime',
    })),
  },
  ...levels.map((level): AllowList => ({
    ...noSuchOption,
    calls: [setOption, getOption],
    when: atLevel(level),
    reason: level.reason,
    allowed: level.options,
  })),
]
