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
    'The kernel compiles filters into memory that the whole machine shares and that no cgroup is charged for. Other options reserve or keep memory, pace or mark packets, poll devices, or need a capability.',
  options: allow([
    [2, 'SO_REUSEADDR', 'Reuses an address that was in use shortly before.', 'every server'],
    [3, 'SO_TYPE', 'Returns the type of the socket.', 'CPython, libuv'],
    [4, 'SO_ERROR', 'Returns and clears the pending error.', 'every runtime'],
    [5, 'SO_DONTROUTE', 'Sends only on the local network.', 'OpenJDK, CPython'],
    [6, 'SO_BROADCAST', 'Allows broadcasts.', 'OpenJDK, Node, CPython'],
    [7, 'SO_SNDBUF', 'Setting it reports success and has no effect.', 'Node, asyncio, OpenJDK'],
    [8, 'SO_RCVBUF', 'Setting it reports success and has no effect.', 'Node, asyncio, OpenJDK'],
    [9, 'SO_KEEPALIVE', 'Sends keepalive probes.', 'every client of databases, Redis'],
    [10, 'SO_OOBINLINE', 'Leaves urgent data in the stream.', 'OpenJDK, telnet, ssh'],
    [12, 'SO_PRIORITY', 'Sets the priority of packets.', 'Asterisk, chrony'],
    [13, 'SO_LINGER', 'Setting it reports success and has no effect.', 'Bun, OpenJDK, CPython’s tests'],
    [14, 'SO_BSDCOMPAT', 'Has no effect any more.', 'older programs'],
    [15, 'SO_REUSEPORT', 'Shares a port among sockets of one user.', 'asyncio, OpenJDK, nginx, Bun'],
    [16, 'SO_PASSCRED', 'Adds the sender’s credentials to messages.', 'D-Bus, systemd, CPython’s tests'],
    [17, 'SO_PEERCRED', 'Returns the peer’s credentials.', 'D-Bus, PostgreSQL, CPython'],
    [18, 'SO_RCVLOWAT', 'Sets how many bytes wake a reader.', 'gRPC, CPython’s tests'],
    [19, 'SO_SNDLOWAT', 'Returns a constant.', 'CPython’s tests'],
    [20, 'SO_RCVTIMEO', 'Sets a timeout for receiving.', 'CPython’s tests, clients in C'],
    [21, 'SO_SNDTIMEO', 'Sets a timeout for sending.', 'CPython’s tests, clients in C'],
    [25, 'SO_BINDTODEVICE', 'Binds the socket to an interface.', 'ping, curl, dnsmasq'],
    [28, 'SO_PEERNAME', 'Returns the peer’s address.', 'older programs'],
    [29, 'SO_TIMESTAMP', 'Adds the time of arrival to messages.', 'ping, tcpdump-like tools'],
    [30, 'SO_ACCEPTCONN', 'Returns whether the socket listens.', 'libuv, systemd, CPython'],
    [31, 'SO_PEERSEC', 'Returns the peer’s security label.', 'D-Bus'],
    [35, 'SO_TIMESTAMPNS', 'Adds the time of arrival in nanoseconds to messages.', 'ping, chrony'],
    [38, 'SO_PROTOCOL', 'Returns the protocol.', 'CPython'],
    [39, 'SO_DOMAIN', 'Returns the family.', 'CPython, Rust'],
    [40, 'SO_RXQ_OVFL', 'Adds the number of dropped packets to messages.', 'QUIC libraries'],
    [
      49,
      'SO_INCOMING_CPU',
      'Returns the processor that received the last packet.',
      'servers with one thread for each processor',
    ],
    [59, 'SO_PEERGROUPS', 'Returns the peer’s groups.', 'D-Bus'],
    [62, 'SO_BINDTOIFINDEX', 'Binds the socket to an interface, by index.', 'curl, avahi'],
  ]),
}

const ipLevel: Level = {
  level: 0,
  name: 'IPPROTO_IP',
  reason:
    'No cgroup is charged for the memory of multicast groups. Other options are for routers, firewalls and IPsec, and load modules.',
  options: allow([
    [1, 'IP_TOS', 'Sets the type of service.', 'Node, OpenJDK, ssh'],
    [2, 'IP_TTL', 'Sets the hop limit.', 'Node, traceroute'],
    [6, 'IP_RECVOPTS', 'Adds the IP options of a packet to messages.', 'CPython'],
    [
      8,
      'IP_PKTINFO',
      'Adds the destination address and the interface to messages.',
      'Go, dnsmasq, QUIC libraries',
    ],
    [10, 'IP_MTU_DISCOVER', 'Sets whether packets may be fragmented.', 'QUIC libraries, glibc’s resolver'],
    [11, 'IP_RECVERR', 'Queues errors for reading.', 'glibc’s resolver, ping, traceroute'],
    [12, 'IP_RECVTTL', 'Adds the hop limit of a packet to messages.', 'ping, traceroute'],
    [13, 'IP_RECVTOS', 'Adds the type of service to messages.', 'QUIC libraries'],
    [14, 'IP_MTU', 'Returns the MTU of the path.', 'tracepath, QUIC libraries'],
    [15, 'IP_FREEBIND', 'Binds an address that does not exist yet.', 'HAProxy, Redis'],
    [20, 'IP_RECVORIGDSTADDR', 'Adds the original destination to messages.', 'proxies'],
    [21, 'IP_MINTTL', 'Refuses packets from farther away.', 'routing daemons'],
    [
      24,
      'IP_BIND_ADDRESS_NO_PORT',
      'Chooses the port at connect instead of bind.',
      'OpenJDK, nginx, HAProxy',
    ],
    [32, 'IP_MULTICAST_IF', 'Chooses the interface for multicast.', 'OpenJDK, Node, CPython'],
    [33, 'IP_MULTICAST_TTL', 'Sets the hop limit for multicast.', 'OpenJDK, Node, CPython'],
    [34, 'IP_MULTICAST_LOOP', 'Receives the caller’s own multicast.', 'OpenJDK, Node, CPython'],
    [
      49,
      'IP_MULTICAST_ALL',
      'Receives multicast of groups that other sockets joined.',
      'OpenJDK, libuv, Rust',
    ],
    [50, 'IP_UNICAST_IF', 'Chooses the interface for unicast.', 'Wine'],
    [51, 'IP_LOCAL_PORT_RANGE', 'Limits the range of local ports.', 'proxies'],
  ]),
}

const ipv6Level: Level = {
  level: 41,
  name: 'IPPROTO_IPV6',
  reason:
    'No cgroup is charged for the memory of multicast groups, headers and flow labels. All flow labels of the machine share one table. Changing a socket’s family, and IPsec, had holes.',
  options: allow([
    [16, 'IPV6_UNICAST_HOPS', 'Sets the hop limit.', 'Node, ping'],
    [17, 'IPV6_MULTICAST_IF', 'Chooses the interface for multicast.', 'OpenJDK, Node'],
    [18, 'IPV6_MULTICAST_HOPS', 'Sets the hop limit for multicast.', 'OpenJDK, Node'],
    [19, 'IPV6_MULTICAST_LOOP', 'Receives the caller’s own multicast.', 'OpenJDK, Node'],
    [23, 'IPV6_MTU_DISCOVER', 'Sets whether packets may be fragmented.', 'QUIC libraries, glibc’s resolver'],
    [24, 'IPV6_MTU', 'Sets or returns the MTU.', 'tracepath, dnsmasq'],
    [25, 'IPV6_RECVERR', 'Queues errors for reading.', 'glibc’s resolver, ping, traceroute'],
    [26, 'IPV6_V6ONLY', 'Accepts no IPv4.', 'every server'],
    [29, 'IPV6_MULTICAST_ALL', 'Receives multicast of groups that other sockets joined.', 'libuv, Rust'],
    [
      49,
      'IPV6_RECVPKTINFO',
      'Adds the destination address and the interface to messages.',
      'OpenJDK, Go, CPython’s tests',
    ],
    [51, 'IPV6_RECVHOPLIMIT', 'Adds the hop limit of a packet to messages.', 'CPython’s tests, ping'],
    [60, 'IPV6_RECVPATHMTU', 'Adds the MTU of the path to messages.', 'QUIC libraries'],
    [62, 'IPV6_DONTFRAG', 'Forbids fragmenting.', 'QUIC libraries'],
    [66, 'IPV6_RECVTCLASS', 'Adds the traffic class to messages.', 'CPython’s tests, QUIC libraries'],
    [67, 'IPV6_TCLASS', 'Sets the traffic class.', 'OpenJDK, Node, ssh'],
    [72, 'IPV6_ADDR_PREFERENCES', 'Sets preferences among source addresses.', 'resolvers'],
    [73, 'IPV6_MINHOPCOUNT', 'Refuses packets from farther away.', 'routing daemons'],
    [74, 'IPV6_RECVORIGDSTADDR', 'Adds the original destination to messages.', 'proxies'],
    [76, 'IPV6_UNICAST_IF', 'Chooses the interface for unicast.', 'Wine'],
    [78, 'IPV6_FREEBIND', 'Binds an address that does not exist yet.', 'HAProxy'],
  ]),
}

const tcpLevel: Level = {
  level: 6,
  name: 'IPPROTO_TCP',
  reason:
    'The keys of peers (TCP_MD5SIG) take memory that no cgroup is charged for. The code of upper-layer protocols (TLS), repair and zero-copy is rarely reviewed, and loads modules.',
  options: allow([
    [1, 'TCP_NODELAY', 'Sends small packets at once.', 'every runtime'],
    [2, 'TCP_MAXSEG', 'Limits the size of segments.', 'iperf, VPNs'],
    [3, 'TCP_CORK', 'Sends only full segments.', 'Bun, nginx'],
    [4, 'TCP_KEEPIDLE', 'Sets the idle time before keepalive probes.', 'Node, Bun, Redis, OpenJDK'],
    [5, 'TCP_KEEPINTVL', 'Sets the interval between keepalive probes.', 'Node, Bun, Redis, OpenJDK'],
    [6, 'TCP_KEEPCNT', 'Sets how many keepalive probes may fail.', 'Node, Bun, Redis, OpenJDK'],
    [7, 'TCP_SYNCNT', 'Sets how often connect retries.', 'clients of databases'],
    [8, 'TCP_LINGER2', 'Sets how long FIN-WAIT-2 lasts.', 'HAProxy'],
    [9, 'TCP_DEFER_ACCEPT', 'Wakes accept only when data has arrived.', 'Bun, nginx, Apache'],
    [10, 'TCP_WINDOW_CLAMP', 'Bounds the receive window.', 'proxies'],
    [11, 'TCP_INFO', 'Describes the connection.', 'Go, iperf, nginx'],
    [12, 'TCP_QUICKACK', 'Acknowledges at once.', 'OpenJDK, Redis clients'],
    [
      13,
      'TCP_CONGESTION',
      'Reads or chooses the congestion control, among those that are loaded.',
      'iperf, CPython',
    ],
    [
      18,
      'TCP_USER_TIMEOUT',
      'Sets when unacknowledged data ends the connection.',
      'gRPC, PostgreSQL, Go, Bun',
    ],
    [25, 'TCP_NOTSENT_LOWAT', 'Wakes a writer when little unsent data is left.', 'nginx, HTTP/2 libraries'],
  ]),
}

const udpLevel: Level = {
  level: 17,
  name: 'IPPROTO_UDP',
  reason: 'Encapsulation and segmentation serve VPNs and offloads. QUIC libraries work without them.',
  options: allow([[1, 'UDP_CORK', 'Collects data into one packet until it is turned off.', 'DNS servers']]),
}

const netlinkLevel: Level = {
  level: 270,
  name: 'SOL_NETLINK',
  reason: 'Other options are for administrators.',
  options: allow([
    [1, 'NETLINK_ADD_MEMBERSHIP', 'Joins a group, such as changes of addresses.', 'ip monitor, Qt, Chromium'],
    [2, 'NETLINK_DROP_MEMBERSHIP', 'Leaves a group.', 'ip monitor, Qt'],
    [3, 'NETLINK_PKTINFO', 'Adds the group to messages.', 'libnl'],
    [10, 'NETLINK_CAP_ACK', 'Shortens acknowledgements.', 'systemd, iproute2'],
    [11, 'NETLINK_EXT_ACK', 'Adds text to errors.', 'iproute2'],
    [12, 'NETLINK_GET_STRICT_CHK', 'Checks requests strictly.', 'iproute2'],
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
    reason: 'Other levels belong to firewalls, and to protocols that guests cannot use.',
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
