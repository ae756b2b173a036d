/*
 * Output of processes that commands have left behind, such as a server that was started with `&`: it is read and
 * discarded, because without a reader their next write would kill them. At most one pipe is read every few
 * milliseconds, so endless output blocks its writer and costs this process almost nothing.
 */
#include "serve/streams/drains.h"
#include "clock.h"
#include "outbox.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { DRAINS_MAX = 256, READY_MAX = 16, REST_US = 5000 };

static int epoll_fd = -1;
static size_t drain_count;
static uint64_t rested_us; /* when it is time for the next round */

/* False at the end of file, or when it cannot be read. */
static bool forget_piece(int fd) {
  static uint8_t scratch[OUTPUT_CHUNK_BYTES];
  ssize_t count = read(fd, scratch, sizeof scratch);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

void drain_on(int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  bool has_writer = forget_piece(fd);
  if (has_writer && epoll_fd < 0) epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (!has_writer || drain_count == DRAINS_MAX || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
    close(fd);
  } else {
    drain_count++;
  }
}

int drains_fd(void) { return drain_count > 0 && now_us() >= rested_us ? epoll_fd : -1; }

int drains_wait_ms(void) {
  uint64_t now = now_us();
  return drain_count > 0 && now < rested_us ? (int)((rested_us - now) / 1000) + 1 : -1;
}

void drain_some(void) {
  struct epoll_event ready[READY_MAX];
  int count = epoll_wait(epoll_fd, ready, READY_MAX, 0);
  for (int i = 0; i < count; i++) {
    if (forget_piece(ready[i].data.fd)) continue;
    close(ready[i].data.fd);
    drain_count--;
  }
  rested_us = now_us() + REST_US;
}
