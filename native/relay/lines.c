/*
 * The relay listens at an abstract name of the host's network, which everybody there can read. So the first packet of a
 * connection has to be the relay's secret. Each later packet has to be the token of a door that the host has admitted,
 * with that door's sockets. A client that sends anything else is disconnected.
 */
#include "lines.h"
#include "doors.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PACKET_BYTES = 4 + TOKEN_BYTES, PACKET_BYTES_MAX = 64 };

struct line {
  int fd; /* 0: none */
  bool is_known;
  uint64_t arrival;
};

static int doorstep_fd = -1;
static uint8_t secret[SECRET_BYTES];
static struct line lines[LINES_MAX];
static uint32_t strangers;
static uint64_t arrivals;

void open_lines(const uint8_t *name, uint32_t name_bytes, const uint8_t *own_secret) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  errno = EPROTO;
  if (doorstep_fd >= 0) give_up("open once");
  memcpy(address.sun_path + 1, name, name_bytes);
  memcpy(secret, own_secret, SECRET_BYTES);
  doorstep_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (doorstep_fd < 0) give_up("open the doorstep");
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name_bytes);
  if (bind(doorstep_fd, (struct sockaddr *)&address, length) < 0) give_up("take the relay's name");
  if (listen(doorstep_fd, BACKLOG) < 0) give_up("listen");
  if (!watch_descriptor(doorstep_fd, EPOLLIN, tag_of(KIND_DOORSTEP, 0, 0))) give_up("watch the doorstep");
}

static void drop_line(struct line *line) {
  if (!line->is_known) strangers--;
  close(line->fd);
  *line = (struct line){0};
}

/* Silent strangers must not keep launchers out: the one that has been silent longest is dropped. */
static void make_room_for_stranger(void) {
  struct line *oldest = NULL;
  if (strangers < STRANGERS_MAX) return;
  for (uint32_t i = 0; i < LINES_MAX; i++) {
    if (lines[i].fd == 0 || lines[i].is_known) continue;
    if (!oldest || lines[i].arrival < oldest->arrival) oldest = &lines[i];
  }
  if (oldest) drop_line(oldest);
}

void accept_lines(void) {
  int fd = accept4(doorstep_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  make_room_for_stranger();
  uint32_t index = 0;
  while (index < LINES_MAX && lines[index].fd != 0) index++;
  if (index == LINES_MAX || !watch_descriptor(fd, EPOLLIN, tag_of(KIND_LINE, index, 0))) {
    close(fd);
    return;
  }
  lines[index] = (struct line){.fd = fd, .arrival = arrivals++};
  strangers++;
}

/* In constant time, so that the time does not reveal how much of it was right. */
static bool is_secret(const uint8_t *said, size_t length) {
  uint8_t difference = length == SECRET_BYTES ? 0 : 1;
  for (size_t i = 0; i < SECRET_BYTES; i++) difference |= (uint8_t)(said[i] ^ secret[i]);
  return difference == 0;
}

struct parcel {
  uint8_t bytes[PACKET_BYTES_MAX];
  size_t length;
  int fds[1 + LISTENERS_MAX];
  uint32_t fd_count;
  bool is_whole;
};

/* False: nothing has arrived. Every descriptor that arrived is in the parcel, even if the packet is malformed. */
static bool receive(int fd, struct parcel *parcel) {
  union {
    char bytes[CMSG_SPACE(sizeof parcel->fds)];
    struct cmsghdr aligned;
  } control;
  struct iovec part = {.iov_base = parcel->bytes, .iov_len = sizeof parcel->bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  memset(parcel, 0, sizeof *parcel);
  ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) return true;
  parcel->length = (size_t)count;
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    size_t fds = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < fds && parcel->fd_count < 1 + LISTENERS_MAX; i++) {
      memcpy(&parcel->fds[parcel->fd_count++], CMSG_DATA(one) + i * sizeof(int), sizeof(int));
    }
  }
  parcel->is_whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return true;
}

static void drop_sockets(const struct parcel *parcel) {
  for (uint32_t i = 0; i < parcel->fd_count; i++) close(parcel->fds[i]);
}

/* A door that the host has closed by now needs no sockets; its connection may serve other doors. False: malformed. */
static bool take_parcel(const struct parcel *parcel) {
  if (!parcel->is_whole || parcel->length != PACKET_BYTES) return false;
  struct reader reader = reader_of(parcel->bytes, parcel->length);
  uint32_t id = take_u32(&reader);
  if (!furnish_door(id, reader.at, parcel->fds, parcel->fd_count)) drop_sockets(parcel);
  return true;
}

void hear_line(uint32_t index) {
  struct line *line = &lines[index];
  static struct parcel parcel;
  if (index >= LINES_MAX || line->fd == 0 || !receive(line->fd, &parcel)) return;
  bool is_taken = false;
  if (line->is_known) {
    is_taken = take_parcel(&parcel);
  } else if (parcel.is_whole && parcel.fd_count == 0 && is_secret(parcel.bytes, parcel.length)) {
    line->is_known = true;
    strangers--;
    return;
  }
  if (is_taken) return;
  drop_sockets(&parcel);
  drop_line(line);
}
