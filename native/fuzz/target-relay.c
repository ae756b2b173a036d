/*
 * The relay: frames of the host, packets of launchers, and events of sockets, in any order. An input is
 * `u32 seed, u32 length, bytes of the host, bytes of launchers and guests`. The relay's own loop (native/relay/main.c)
 * waits for the kernel; here the seed chooses the next event.
 */
#include "fake-kernel.h"

#include <netinet/in.h>
#include <string.h>

static ssize_t receive_bytes(int fd, void *buffer, size_t length);
static ssize_t receive_packet(struct msghdr *message);
static ssize_t receive_datagram(void *buffer, size_t length, struct sockaddr_in *from);
static int name_socket(struct sockaddr *address, socklen_t *length);
static ssize_t send_some(size_t length);
static ssize_t splice_some(size_t most);

/* Calls that only the relay makes. */
#undef recv
#define recv(fd, buffer, length, flags) receive_bytes(fd, buffer, length)
#undef send
#define send(fd, bytes, length, flags) ((void)(fd), (void)(bytes), send_some(length))
#define recvmsg(fd, message, flags) ((void)(fd), receive_packet(message))
#define recvfrom(fd, buffer, length, flags, from, from_length) \
  ((void)(fd), (void)(from_length), receive_datagram(buffer, length, (struct sockaddr_in *)(from)))
#define sendto(fd, bytes, length, flags, to, to_length) ((void)(fd), (void)(bytes), (void)(length), (void)(to), fake_succeed())
#define getsockname(fd, address, length) ((void)(fd), name_socket(address, length))
#define getpeername(fd, address, length) ((void)(fd), name_socket(address, length))
#define splice(from, from_at, to, to_at, most, flags) ((void)(from), (void)(to), splice_some(most))

#include "relay/connections.c"

#include "relay/doors.c"

#include "relay/flow.c"

#include "relay/host.c"

#include "relay/clients.c"

enum { ROUNDS = 512, INDEX_MAX = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of native/relay/main.c, whose other parts start a process. */
_Noreturn void give_up(const char *what) {
  (void)what;
  _exit(1);
}

uint64_t tag_of(enum kind kind, uint32_t index, uint32_t part) {
  return (uint64_t)kind << 56 | (uint64_t)part << 32 | index;
}

bool watch_descriptor(int fd, uint32_t events, uint64_t tag) {
  (void)fd, (void)events, (void)tag;
  return fake_number(64) > 0;
}

void unwatch_descriptor(int fd) { (void)fd; }

static struct bytes said_by_host;
static struct bytes said_by_others;

static ssize_t take(struct bytes *from, void *buffer, size_t most) {
  size_t count = from->left < most ? from->left : most;
  if (count > 0) memcpy(buffer, from->at, count);
  from->at += count;
  from->left -= count;
  return (ssize_t)count;
}

/* The relay peeks at one byte of a connection, to see whether more follow. */
static ssize_t receive_bytes(int fd, void *buffer, size_t length) {
  errno = EAGAIN;
  if (fd != HOST_FD) return (ssize_t)fake_number(3) - 1;
  if (said_by_host.left == 0) return -1;
  return take(&said_by_host, buffer, fake_number(2) == 0 ? length : fake_number((uint32_t)length));
}

/* The secret, the token of a door, or neither. */
static ssize_t receive_packet(struct msghdr *message) {
  const size_t lengths[] = {SECRET_BYTES, PACKET_BYTES, PACKET_BYTES, fake_number(PACKET_BYTES_MAX + 1)};
  ssize_t count = take(&said_by_others, message->msg_iov->iov_base, lengths[fake_number(4)]);
  size_t fds = fake_number(4) == 0 ? fake_number(1 + LISTENERS_MAX) : fake_number(4);
  message->msg_flags = fake_number(16) == 0 ? MSG_CTRUNC : 0;
  message->msg_controllen = 0;
  if (count <= 0 || fds == 0) return count;
  message->msg_controllen = CMSG_SPACE(fds * sizeof(int));
  struct cmsghdr *header = CMSG_FIRSTHDR(message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(fds * sizeof(int))};
  for (size_t i = 0; i < fds; i++) {
    int fd = 20 + (int)i;
    memcpy(CMSG_DATA(header) + i * sizeof fd, &fd, sizeof fd);
  }
  return count;
}

static ssize_t receive_datagram(void *buffer, size_t length, struct sockaddr_in *from) {
  *from = (struct sockaddr_in){.sin_family = fake_number(8) == 0 ? AF_INET6 : AF_INET, .sin_port = 7};
  ssize_t count = take(&said_by_others, buffer, fake_number((uint32_t)length + 1));
  return count > 0 && fake_number(8) == 0 ? (ssize_t)length + 1 : count; /* MSG_TRUNC says how long it was */
}

static int name_socket(struct sockaddr *address, socklen_t *length) {
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = (in_port_t)fake_number(1 << 16)};
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = (in_port_t)fake_number(1 << 16)};
  bool is_six = fake_number(4) == 0;
  *length = is_six ? sizeof six : sizeof four;
  memcpy(address, is_six ? (void *)&six : (void *)&four, *length);
  return fake_succeed();
}

static ssize_t send_some(size_t length) {
  errno = EAGAIN;
  return fake_number(4) == 0 ? -1 : (ssize_t)(1 + fake_number((uint32_t)length));
}

static ssize_t splice_some(size_t most) {
  if (fake_number(4) == 0) {
    errno = fake_number(2) == 0 ? EAGAIN : EPIPE;
    return -1;
  }
  return (ssize_t)fake_number((uint32_t)most + 1);
}

static void begin_anew(void) {
  memset(connections, 0, used * sizeof *connections);
  used = open_count = last_round = ready = 0;
  has_closed = false;
  for (uint32_t i = 0; i < DOORS_MAX; i++) {
    if (doors[i].is_used) memset(&doors[i], 0, sizeof doors[i]);
  }
  memset(budgets, 0, sizeof budgets);
  last_question = throttled = 0;
  spares = 0;
  inbox_bytes = outbox_bytes = outbox_sent = 0;
  waits_for_room = false;
  memset(clients, 0, sizeof clients);
  entry_fd = -1;
  unauthenticated = 0;
  arrivals = 0;
}

static void happen(void) {
  uint32_t index = fake_number(INDEX_MAX);
  static const uint32_t all[] = {EPOLLIN, EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLHUP, EPOLLERR};
  uint32_t events = all[fake_number(sizeof all / sizeof *all)];
  switch (fake_number(8)) {
    case 0: handle_host(EPOLLIN); break;
    case 1: if (entry_fd >= 0) accept_client(); break;
    case 2: handle_client(index); break;
    case 3: accept_connection(index, 1 + fake_number(3)); break;
    case 4: take_questions(index); break;
    case 5: handle_side(index, events, true); break;
    case 6: handle_side(index, events, false); break;
    default: break;
  }
  go_on_with_connections();
  release_throttled();
  flush_host();
  forget_closed();
}

static void check_counts(void) {
  uint32_t open = 0;
  for (uint32_t i = 0; i < used; i++) open += connections[i].state != FREE && connections[i].state != CLOSED;
  if (open != open_count) found("connections: the count is wrong");
  if (unauthenticated > UNAUTHENTICATED_MAX) found("clients: more unauthenticated ones than their bound");
  if (inbox_bytes > sizeof inbox || outbox_bytes > sizeof outbox || outbox_sent > outbox_bytes) {
    found("a buffer counts more bytes than it has");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  size_t host_bytes = take_seed(&input);
  if (host_bytes > input.left) host_bytes = input.left;
  said_by_host = (struct bytes){input.at, host_bytes};
  said_by_others = (struct bytes){input.at + host_bytes, input.left - host_bytes};
  begin_anew();
  fake_begin(seed, (struct bytes){NULL, 0}, (struct bytes){NULL, 0});
  if (setjmp(fake_end) != 0) return 0; /* the run ended inside a call: there is nothing left to check */
  for (int round = 0; round < ROUNDS; round++) {
    happen();
    check_counts();
  }
  return 0;
}
