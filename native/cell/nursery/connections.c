/*
 * Connections of the host to its nursery. Each is for one socket of a launcher; its greeting says for which launcher
 * and as which descriptor. Others are refused.
 */
#include "nursery/connections.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  GREETING_BYTES = FRAME_HEADER_BYTES + 2, /* the frame's id names the launcher; payload: u8 descriptor, u8 has a channel */
  PAUSE_MS = 10, /* before the next connection is taken when there was no descriptor for one */
};

/* A connection from the host. `role` is its descriptor in the launcher, 0 until its greeting has named it. */
struct waiting {
  int fd;
  uint32_t id;
  uint8_t role;
  bool has_channel;
  uint64_t arrival; /* ascending */
  uint8_t greeting[GREETING_BYTES + SECRET_BYTES];
  size_t greeting_bytes;
};

static struct waiting waiting[CONNECTIONS_MAX];
static size_t waiting_count;
static pid_t host;
static int listen_fd;
static bool is_out_of_descriptors;
static const uint8_t *secret; /* what a connection has to send if the kernel cannot identify it; or NULL */

void open_connections(int listening_fd, pid_t only_host, const uint8_t *own_secret) {
  listen_fd = listening_fd;
  host = only_host;
  secret = own_secret;
  waiting_count = 0;
  is_out_of_descriptors = false;
}

static void drop_waiting(size_t index) {
  close(waiting[index].fd);
  waiting[index] = waiting[--waiting_count];
}

void drop_connections_of(uint32_t id) {
  for (size_t i = waiting_count; i-- > 0;) {
    if (waiting[i].role != 0 && waiting[i].id == id) drop_waiting(i);
  }
}

/*
 * Everybody can read the name, so the kernel's record of who connected decides. In a cell that record is meaningless.
 */
static bool is_host(int fd) {
  if (secret) return true; /* its greeting decides */
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return false;
  return peer.pid == host && peer.uid == geteuid();
}

/* Silent strangers must not keep the host out: the connection that has been silent longest is dropped. */
static void make_room(void) {
  if (waiting_count < CONNECTIONS_MAX) return;
  size_t oldest = waiting_count;
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].role != 0) continue;
    if (oldest == waiting_count || waiting[i].arrival < waiting[oldest].arrival) oldest = i;
  }
  if (oldest < waiting_count) drop_waiting(oldest);
}

static size_t greeting_length(void) { return GREETING_BYTES + (secret ? SECRET_BYTES : 0); }

void accept_connections(void) {
  static uint64_t arrivals;
  if (secret) make_room();
  while (waiting_count < CONNECTIONS_MAX) {
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
      is_out_of_descriptors = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
      return;
    }
    if (is_host(fd)) {
      waiting[waiting_count++] = (struct waiting){.fd = fd, .arrival = arrivals++};
    } else {
      close(fd);
    }
  }
}

int find_connection(uint32_t id, uint8_t role) {
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].role == role && waiting[i].id == id) return waiting[i].fd;
  }
  return -1;
}

/* In constant time, so that the time does not reveal how much of it was right. */
static bool knows_secret(const uint8_t *said) {
  uint8_t difference = 0;
  for (int i = 0; secret && i < SECRET_BYTES; i++) difference |= (uint8_t)(said[i] ^ secret[i]);
  return difference == 0;
}

/* Reads what has arrived of a greeting, and not a byte more: the plan behind it is the launcher's. False: drop it. */
static bool read_greeting(struct waiting *one) {
  size_t missing = greeting_length() - one->greeting_bytes;
  ssize_t count = recv(one->fd, one->greeting + one->greeting_bytes, missing, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  one->greeting_bytes += (size_t)count;
  if (one->greeting_bytes < greeting_length()) return true;
  struct frame frame = frame_header(one->greeting);
  uint8_t role = one->greeting[FRAME_HEADER_BYTES];
  bool is_role = role == REPORT_FD || role == CONTROL_FD || role == CHANNEL_FD;
  if (frame.type != FRAME_GREETING || frame.length != greeting_length() - FRAME_HEADER_BYTES || !is_role) return false;
  if (!knows_secret(one->greeting + GREETING_BYTES) || find_connection(frame.id, role) >= 0) return false;
  explicit_bzero(one->greeting + GREETING_BYTES, SECRET_BYTES); /* launchers are forks of this process */
  one->id = frame.id;
  one->has_channel = one->greeting[FRAME_HEADER_BYTES + 1] != 0;
  one->role = role;
  return true;
}

/* Connections that have greeted wait for the other sockets of their launcher; a host that gives up closes them. */
size_t poll_connections(struct pollfd polled[1 + CONNECTIONS_MAX], int *wait_ms) {
  bool takes_more = (waiting_count < CONNECTIONS_MAX || secret) && !is_out_of_descriptors;
  polled[0] = (struct pollfd){.fd = takes_more ? listen_fd : -1, .events = POLLIN};
  for (size_t i = 0; i < waiting_count; i++) {
    polled[1 + i] = (struct pollfd){.fd = waiting[i].fd, .events = waiting[i].role == 0 ? POLLIN : 0};
  }
  *wait_ms = is_out_of_descriptors ? PAUSE_MS : -1;
  is_out_of_descriptors = false;
  return waiting_count;
}

bool read_connection(int fd, struct greeted *greeted) {
  /* Launching and dropping move entries: this one may be elsewhere by now, or gone. */
  size_t at = 0;
  while (at < waiting_count && waiting[at].fd != fd) at++;
  if (at == waiting_count) return false;
  if (waiting[at].role != 0 || !read_greeting(&waiting[at])) {
    drop_waiting(at);
    return false;
  }
  *greeted = (struct greeted){.id = waiting[at].id, .has_channel = waiting[at].has_channel};
  return waiting[at].role != 0;
}
