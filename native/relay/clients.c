/*
 * The relay listens at an abstract name in the host's network namespace, which everybody there can read. So the first
 * packet of a connection has to be the relay's secret. Each later packet has to be the token of a door that the host
 * has admitted, with that door's sockets. A client that sends anything else is disconnected.
 */
#include "clients.h"
#include "doors.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PACKET_BYTES = 4 + TOKEN_BYTES, PACKET_BYTES_MAX = 64 };

struct client {
  int fd; /* 0: none */
  bool is_authenticated;
  uint64_t arrival;
};

static int entry_fd = -1;
static uint8_t secret[SECRET_BYTES];
static struct client clients[CLIENTS_MAX];
static uint32_t unauthenticated;
static uint64_t arrivals;

void listen_for_clients(const uint8_t *name, uint32_t name_bytes, const uint8_t *own_secret) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  errno = EPROTO;
  if (entry_fd >= 0) give_up("open once");
  memcpy(address.sun_path + 1, name, name_bytes);
  memcpy(secret, own_secret, SECRET_BYTES);
  entry_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (entry_fd < 0) give_up("open the entry socket");
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name_bytes);
  if (bind(entry_fd, (struct sockaddr *)&address, length) < 0) give_up("bind the name of the relay");
  if (listen(entry_fd, BACKLOG) < 0) give_up("listen");
  if (!watch_descriptor(entry_fd, EPOLLIN, tag_of(KIND_ENTRY, 0, 0))) give_up("watch the entry socket");
}

static void drop_client(struct client *client) {
  if (!client->is_authenticated) unauthenticated--;
  close(client->fd);
  *client = (struct client){0};
}

/* Clients that never authenticate must not keep launchers out: the oldest of them is disconnected. */
static void make_room_for_client(void) {
  struct client *oldest = NULL;
  if (unauthenticated < UNAUTHENTICATED_MAX) return;
  for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
    if (clients[i].fd == 0 || clients[i].is_authenticated) continue;
    if (!oldest || clients[i].arrival < oldest->arrival) oldest = &clients[i];
  }
  if (oldest) drop_client(oldest);
}

void accept_client(void) {
  int fd = accept4(entry_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  make_room_for_client();
  uint32_t index = 0;
  while (index < CLIENTS_MAX && clients[index].fd != 0) index++;
  if (index == CLIENTS_MAX || !watch_descriptor(fd, EPOLLIN, tag_of(KIND_CLIENT, index, 0))) {
    close(fd);
    return;
  }
  clients[index] = (struct client){.fd = fd, .arrival = arrivals++};
  unauthenticated++;
}

/* In constant time, so that the time does not reveal how much of it was right. */
static bool is_secret(const uint8_t *said, size_t length) {
  uint8_t difference = length == SECRET_BYTES ? 0 : 1;
  for (size_t i = 0; i < SECRET_BYTES; i++) difference |= (uint8_t)(said[i] ^ secret[i]);
  return difference == 0;
}

struct packet {
  uint8_t bytes[PACKET_BYTES_MAX];
  size_t length;
  int fds[1 + LISTENERS_MAX];
  uint32_t fd_count;
  bool is_whole;
};

/* False: nothing has arrived. Every descriptor that arrived is listed, even if the packet is malformed. */
static bool receive(int fd, struct packet *packet) {
  union {
    char bytes[CMSG_SPACE(sizeof packet->fds)];
    struct cmsghdr aligned;
  } control;
  struct iovec part = {.iov_base = packet->bytes, .iov_len = sizeof packet->bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  memset(packet, 0, sizeof *packet);
  ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) return true;
  packet->length = (size_t)count;
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    size_t fds = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < fds && packet->fd_count < 1 + LISTENERS_MAX; i++) {
      memcpy(&packet->fds[packet->fd_count++], CMSG_DATA(one) + i * sizeof(int), sizeof(int));
    }
  }
  packet->is_whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return true;
}

static void drop_sockets(const struct packet *packet) {
  for (uint32_t i = 0; i < packet->fd_count; i++) close(packet->fds[i]);
}

/* A door that the host has closed by now needs no sockets; its connection may serve other doors. False: malformed. */
static bool take_packet(const struct packet *packet) {
  if (!packet->is_whole || packet->length != PACKET_BYTES) return false;
  struct reader reader = reader_of(packet->bytes, packet->length);
  uint32_t id = take_u32(&reader);
  if (!add_sockets(id, reader.at, packet->fds, packet->fd_count)) drop_sockets(packet);
  return true;
}

void handle_client(uint32_t index) {
  struct client *client = &clients[index];
  static struct packet packet;
  if (index >= CLIENTS_MAX || client->fd == 0 || !receive(client->fd, &packet)) return;
  bool is_taken = false;
  if (client->is_authenticated) {
    is_taken = take_packet(&packet);
  } else if (packet.is_whole && packet.fd_count == 0 && is_secret(packet.bytes, packet.length)) {
    client->is_authenticated = true;
    unauthenticated--;
    return;
  }
  if (is_taken) return;
  drop_sockets(&packet);
  drop_client(client);
}
