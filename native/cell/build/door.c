/*
 * The way out of a cell with a network policy. Its network namespace has only a loopback device. Ranges of addresses
 * are routed to that device, so that a connection to any of them reaches our listeners. A resolver has the address that
 * programs use by default. The sockets are made here and handed to the relay (native/relay), which is outside; this
 * process keeps none of them.
 * Stops: nothing by itself. The namespace is the wall, and the relay connects only to what the host names.
 * Needs: CAP_NET_ADMIN and CAP_NET_BIND_SERVICE in the namespace. Source: rtnetlink(7), ip(7), unix(7).
 */
#include "build/door.h"
#include "cell.h"
#include "record.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  RELAY_SECRET_BYTES = 32,
  TOKEN_BYTES = 16,
  SOCKETS_MAX = 129, /* the resolver, and at most 128 listeners: SCM_RIGHTS carries 253 descriptors */
  ROUTES_MAX = 512,
  BACKLOG = 64,
  LOOPBACK_INDEX = 1, /* of every network namespace, loopback_net_init() */
  RESOLVER_PORT = 53,
};

/* Connects in the host's network, before the namespaces are made. */
void step_reach_relay(struct reader *record) {
  const char *name = take_string(record);
  uint32_t secret_bytes = 0;
  const uint8_t *secret = take_bytes(record, &secret_bytes);
  require_whole(record);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  errno = EPROTO;
  if (length == 0 || length > sizeof address.sun_path - 1 || secret_bytes != RELAY_SECRET_BYTES || cell.relay_fd != 0) {
    fail("read where the relay is");
  }
  memcpy(address.sun_path + 1, name, length);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  check(fd, "open a socket for the relay");
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  check(connect(fd, (struct sockaddr *)&address, bytes), "reach the relay");
  check(send(fd, secret, secret_bytes, MSG_NOSIGNAL), "greet the relay");
  explicit_bzero((void *)(uintptr_t)secret, secret_bytes); /* guests are forked from this process */
  cell.relay_fd = fd;
}

/* ---- routes ---- */

static size_t append(uint8_t *at, uint16_t type, const void *bytes, size_t length) {
  struct rtattr header = {.rta_len = (uint16_t)RTA_LENGTH(length), .rta_type = type};
  memcpy(at, &header, sizeof header);
  memcpy(at + sizeof header, bytes, length);
  return sizeof header + length; /* both lengths in use are multiples of four, the alignment */
}

static size_t write_route(uint8_t *message, const uint8_t *address, uint32_t address_bytes, uint32_t prefix) {
  struct rtmsg route = {
      .rtm_family = address_bytes == 4 ? AF_INET : AF_INET6,
      .rtm_dst_len = (uint8_t)prefix,
      .rtm_table = RT_TABLE_LOCAL,
      .rtm_protocol = RTPROT_BOOT,
      .rtm_scope = RT_SCOPE_HOST,
      .rtm_type = RTN_LOCAL,
  };
  uint32_t device = LOOPBACK_INDEX;
  size_t length = NLMSG_HDRLEN;
  memcpy(message + length, &route, sizeof route);
  length += sizeof route;
  length += append(message + length, RTA_DST, address, address_bytes);
  length += append(message + length, RTA_OIF, &device, sizeof device);
  struct nlmsghdr header = {
      .nlmsg_len = (uint32_t)length,
      .nlmsg_type = RTM_NEWROUTE,
      .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
  };
  memcpy(message, &header, sizeof header);
  return length;
}

/* The kernel answers each request with an errno, 0 for success. */
static int read_answer(int fd) {
  struct {
    struct nlmsghdr header;
    struct nlmsgerr error;
  } answer;
  memset(&answer, 0, sizeof answer);
  ssize_t count = recv(fd, &answer, sizeof answer, 0);
  if (count < 0) return errno;
  if ((size_t)count < sizeof answer.header + sizeof answer.error.error || answer.header.nlmsg_type != NLMSG_ERROR) {
    return EPROTO;
  }
  return -answer.error.error;
}

static void add_routes(struct reader *record) {
  uint8_t message[128];
  uint32_t count = take_u32(record);
  errno = EPROTO;
  if (count > ROUTES_MAX) fail("read the routes");
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  check(fd, "open a socket for routes");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t prefix = take_u32(record);
    uint32_t address_bytes = 0;
    const uint8_t *address = take_bytes(record, &address_bytes);
    errno = EPROTO;
    if (record->bad || (address_bytes != 4 && address_bytes != 16) || prefix > 8 * address_bytes) fail("read a route");
    check(send(fd, message, write_route(message, address, address_bytes, prefix), 0), "route a range to the loopback");
    int error = read_answer(fd);
    errno = error;
    /* EEXIST: the range is already routed to the loopback. */
    if (error != 0 && error != EEXIST) fail("route a range to the loopback");
  }
  close(fd);
}

/* ---- sockets ---- */

static int open_resolver(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(fd, "open the resolver");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(RESOLVER_PORT)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* where programs ask if resolv.conf names no server, resolv.conf(5) */
  check(bind(fd, (struct sockaddr *)&address, sizeof address), "take the resolver's port");
  return fd;
}

static int open_listener(uint32_t port, bool is_six) {
  int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(fd, "open a listener");
  if (is_six) {
    int yes = 1;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    check(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes), "keep a listener to IPv6");
    check(bind(fd, (struct sockaddr *)&address, sizeof address), "take a listener's port");
  } else {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    check(bind(fd, (struct sockaddr *)&address, sizeof address), "take a listener's port");
  }
  check(listen(fd, BACKLOG), "listen");
  return fd;
}

static uint32_t open_sockets(struct reader *record, int fds[SOCKETS_MAX]) {
  uint32_t count = take_u32(record);
  errno = EPROTO;
  if (record->bad || count > SOCKETS_MAX - 1) fail("read the listeners");
  fds[0] = open_resolver();
  for (uint32_t i = 0; i < count; i++) {
    uint32_t port = take_u32(record);
    uint32_t is_six = take_u32(record);
    errno = EPROTO;
    if (record->bad || port == 0 || port > 65535 || is_six > 1) fail("read a listener");
    fds[1 + i] = open_listener(port, is_six == 1);
  }
  return 1 + count;
}

static void hand_over(const uint8_t *packet, size_t length, const int *fds, uint32_t count) {
  static union {
    char bytes[CMSG_SPACE(sizeof(int) * SOCKETS_MAX)];
    struct cmsghdr aligned;
  } control;
  struct iovec part = {.iov_base = (void *)(uintptr_t)packet, .iov_len = length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control};
  message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * count);
  memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
  check(sendmsg(cell.relay_fd, &message, MSG_NOSIGNAL), "hand the sockets to the relay");
}

void step_door(struct reader *record) {
  uint8_t packet[4 + TOKEN_BYTES];
  int fds[SOCKETS_MAX];
  put_u32(packet, take_u32(record));
  uint32_t token_bytes = 0;
  const uint8_t *token = take_bytes(record, &token_bytes);
  errno = EPROTO;
  if (record->bad || token_bytes != TOKEN_BYTES || cell.relay_fd == 0) fail("read the door");
  if (!cell.has_own_network) fail("check the network namespace"); /* the sockets would be in the host's network */
  memcpy(packet + 4, token, TOKEN_BYTES);
  add_routes(record);
  uint32_t count = open_sockets(record, fds);
  require_whole(record);
  hand_over(packet, sizeof packet, fds, count);
  for (uint32_t i = 0; i < count; i++) close(fds[i]);
  close(cell.relay_fd);
  cell.relay_fd = 0;
}
