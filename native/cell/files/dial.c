/*
 * Connects to a port on the space's own loopback, and copies standard input to the server, and the server's bytes to
 * standard output. It ends when the server has closed the connection. The end of standard input only shuts down the
 * sending side, so the server's answer still arrives.
 */
#include "files/dial.h"
#include "files/records.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* One direction. It reads nothing more until its bytes are written, so a slow receiver slows down the sender. */
struct copy {
  int from;
  int to;
  uint8_t bytes[PIECE_BYTES];
  size_t start;
  size_t end;
  bool is_over; /* the sender has ended, or the receiver has closed */
};

static struct copy to_server;
static struct copy to_owner;

static int connect_to(const struct sockaddr *address, socklen_t length) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0) return -1;
  if (connect(fd, address, length) == 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* A server on "localhost" may listen on either address. */
static int connect_to_loopback(uint16_t port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = connect_to((struct sockaddr *)&four, sizeof four);
  int error = errno;
  if (fd < 0) fd = connect_to((struct sockaddr *)&six, sizeof six);
  /* Report the IPv4 error: without IPv6, the second error says nothing about the port. */
  if (fd < 0) errno = error;
  return fd;
}

static bool is_waiting(void) { return errno == EAGAIN || errno == EINTR; }

static void fill(struct copy *copy) {
  ssize_t count = read(copy->from, copy->bytes, sizeof copy->bytes);
  if (count > 0) {
    copy->start = 0;
    copy->end = (size_t)count;
  } else if (count == 0 || !is_waiting()) {
    copy->is_over = true;
  }
}

static void drain(struct copy *copy) {
  ssize_t count = write(copy->to, copy->bytes + copy->start, copy->end - copy->start);
  if (count >= 0) {
    copy->start += (size_t)count;
  } else if (!is_waiting()) {
    copy->start = copy->end;
    copy->is_over = true;
  }
}

static bool has_bytes(const struct copy *copy) { return copy->start < copy->end; }

static void move(struct copy *copy) {
  if (!has_bytes(copy) && !copy->is_over) fill(copy);
  if (has_bytes(copy)) drain(copy);
}

static bool wait_for_both(void) {
  struct copy *copies[] = {&to_server, &to_owner};
  struct pollfd waits[2];
  for (size_t i = 0; i < 2; i++) {
    bool writes = has_bytes(copies[i]);
    waits[i] = (struct pollfd){.fd = writes ? copies[i]->to : copies[i]->from, .events = writes ? POLLOUT : POLLIN};
    if (!writes && copies[i]->is_over) waits[i].fd = -1;
  }
  return poll(waits, 2, -1) >= 0 || errno == EINTR;
}

static bool unblock(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

bool dial_port(char *const arguments[]) {
  const char *port = arguments[0];
  int yes = 1;
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) return refuse("ignore SIGPIPE", port);
  int server = connect_to_loopback((uint16_t)strtoul(port, NULL, 10));
  if (server < 0) return refuse("connect", port);
  (void)setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (!unblock(server) || !unblock(STDIN_FILENO) || !unblock(STDOUT_FILENO)) return refuse("copy", port);
  to_server = (struct copy){.from = STDIN_FILENO, .to = server};
  to_owner = (struct copy){.from = server, .to = STDOUT_FILENO};
  bool is_shut = false;
  while (!to_owner.is_over || has_bytes(&to_owner)) {
    if (!wait_for_both()) return refuse("copy", port);
    move(&to_server);
    move(&to_owner);
    if (is_shut || !to_server.is_over || has_bytes(&to_server)) continue;
    is_shut = true;
    (void)shutdown(server, SHUT_WR);
  }
  return true;
}
