/*
 * lazaret-relay: carries the bytes of cells with a network policy. It runs beside the host, outside every cell, and
 * holds sockets that lie in the cells' network namespaces. It decides nothing: the host resolves each name, checks each
 * address, and tells the relay which address to connect to. Here bytes pass between two sockets, within bounds.
 * It is started with a socket to the host as descriptor 3 and ends with it. Launcher and relay are one program, which
 * saves a second copy of libc; its name in argv says which of them it is.
 */
#include "relay.h"
#include "confine.h"
#include "connections.h"
#include "doors.h"
#include "host.h"
#include "clients.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_MAX = 64 };

static int epoll_fd;

_Noreturn void give_up(const char *what) {
  fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
  _exit(1);
}

uint64_t tag_of(enum kind kind, uint32_t index, uint32_t part) {
  return (uint64_t)kind << 56 | (uint64_t)part << 32 | index;
}

bool watch_descriptor(int fd, uint32_t events, uint64_t tag) {
  struct epoll_event event = {.events = events, .data.u64 = tag};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) return true;
  return errno == EEXIST && epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &event) == 0;
}

void unwatch_descriptor(int fd) { (void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL); }

static void handle(uint64_t tag, uint32_t events) {
  uint32_t index = (uint32_t)tag;
  uint32_t part = (uint32_t)(tag >> 32) & 0xffffff;
  switch ((enum kind)(tag >> 56)) {
    case KIND_HOST: handle_host(events); break;
    case KIND_ENTRY: accept_client(); break;
    case KIND_CLIENT: handle_client(index); break;
    case KIND_LISTENER: accept_connection(index, part); break;
    case KIND_RESOLVER: take_questions(index); break;
    case KIND_INNER: handle_side(index, events, true); break;
    case KIND_OUTER: handle_side(index, events, false); break;
  }
}

static _Noreturn void run_relay(void) {
  if (signal(SIGPIPE, SIG_IGN) == SIG_ERR) give_up("ignore SIGPIPE");
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd < 0) give_up("make a set of descriptors");
  confine();
  open_host();
  for (;;) {
    struct epoll_event events[EVENTS_MAX];
    int wait_ms = has_ready_connections() ? 0 : throttled_wait_ms();
    int count = epoll_wait(epoll_fd, events, EVENTS_MAX, wait_ms);
    if (count < 0 && errno != EINTR) give_up("wait");
    for (int i = 0; i < count; i++) handle(events[i].data.u64, events[i].events);
    go_on_with_connections();
    release_throttled();
    flush_host();
    forget_closed(); /* only now, so that no event of this round reaches a new connection in the same place */
  }
}

/* The linker puts this in place of the launcher's main (--wrap=main). */
int __real_main(void);
int __wrap_main(int count, char **arguments);

int __wrap_main(int count, char **arguments) {
  if (count > 0 && strcmp(arguments[0], "relay") == 0) run_relay();
  return __real_main();
}
