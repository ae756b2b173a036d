/*
 * Finds an engine's descriptors in /proc/self/fd, and recreates them in a fork. With a descriptor of an unknown kind
 * there can be no zygote, because its forks would lack or share it.
 */
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WATCHED_MAX = 64, PIPE_BYTES_MAX = 64, TARGET_BYTES = 64 };

enum kind { EPOLL, EVENTFD, PIPE, NULL_DEVICE };

struct known {
  enum kind kind;
  int fd;
  int other; /* of a pipe: its write end */
  int bytes; /* buffered in the pipe */
  unsigned count; /* of an eventfd */
  int flags;
};
static struct known known[DESCRIPTORS_MAX];
static int known_count;

struct watched {
  int epoll;
  int fd;
  struct epoll_event event;
};
static struct watched watched[WATCHED_MAX];
static int watched_count;

static char targets[DESCRIPTORS_MAX][TARGET_BYTES];
static char problem[128];

static bool read_target(int fd) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  ssize_t count = readlink(path, targets[fd], TARGET_BYTES - 1);
  targets[fd][count > 0 ? count : 0] = 0;
  return count > 0;
}

static bool note_watched(int epoll) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  bool fits = true;
  while (fits && fgets(line, sizeof line, file)) {
    int fd;
    uint32_t events;
    uint64_t data;
    if (sscanf(line, "tfd: %d events: %" SCNx32 " data: %" SCNx64, &fd, &events, &data) != 3) continue;
    fits = watched_count < WATCHED_MAX;
    if (fits) watched[watched_count++] = (struct watched){epoll, fd, {.events = events, .data.u64 = data}};
  }
  fclose(file);
  return fits;
}

/* Without it a wakeup would be lost for good: libuv sends none while one is under way. */
static bool read_count(int fd, unsigned *count) {
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "re");
  if (!file) return false;
  bool is_known = false;
  while (!is_known && fgets(line, sizeof line, file)) is_known = sscanf(line, "eventfd-count: %x", count) == 1;
  fclose(file);
  return is_known;
}

/* Records a pipe once its second end is found. */
static bool note_pipe(int fd, int first) {
  struct known *const pipe = &known[known_count];
  for (int other = first; other < fd; other++) {
    if (strcmp(targets[other], targets[fd]) != 0) continue;
    bool is_reader = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    *pipe = (struct known){.kind = PIPE, .fd = is_reader ? fd : other, .other = is_reader ? other : fd,
                           .flags = fcntl(fd, F_GETFL) & O_NONBLOCK};
    if (ioctl(pipe->fd, FIONREAD, &pipe->bytes) < 0 || pipe->bytes > PIPE_BYTES_MAX) return false;
    known_count++;
    return true;
  }
  return true;
}

static bool note(int fd, int first) {
  int flags = fcntl(fd, F_GETFL);
  struct known *const one = &known[known_count];
  if (strcmp(targets[fd], "anon_inode:[eventfd]") == 0) {
    known_count++;
    *one = (struct known){.kind = EVENTFD, .fd = fd, .flags = flags & O_NONBLOCK};
    return read_count(fd, &one->count);
  } else if (strcmp(targets[fd], "anon_inode:[eventpoll]") == 0) {
    known_count++;
    *one = (struct known){.kind = EPOLL, .fd = fd};
    return note_watched(fd);
  } else if (strcmp(targets[fd], "/dev/null") == 0) {
    known_count++;
    *one = (struct known){.kind = NULL_DEVICE, .fd = fd, .flags = flags & (O_ACCMODE | O_DIRECTORY | O_PATH)};
  } else if (strncmp(targets[fd], "pipe:", strlen("pipe:")) == 0)
    return note_pipe(fd, first);
  else
    return false;
  return true;
}

const char *note_descriptors(int last_given) {
  const int first = last_given + 1;
  known_count = watched_count = 0;
  for (int fd = first; fd < DESCRIPTORS_MAX; fd++) {
    if (!read_target(fd) || note(fd, first)) continue;
    snprintf(problem, sizeof problem, "descriptor %d is %s", fd, targets[fd]);
    return problem;
  }
  return NULL;
}

static bool place(int fd, int number) {
  if (fd < 0) return false;
  if (fd == number) return true;
  bool placed = dup3(fd, number, O_CLOEXEC) == number;
  close(fd);
  return placed;
}

/* Moves both ends above all numbers first, so that placing one closes no other. */
static bool renew_pipe(const struct known *pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | pipe->flags) < 0) return false;
  for (int i = 0; i < pipe->bytes; i++) {
    if (write(ends[1], "*", 1) != 1) return false;
  }
  int reader = fcntl(ends[0], F_DUPFD_CLOEXEC, DESCRIPTORS_MAX);
  int writer = fcntl(ends[1], F_DUPFD_CLOEXEC, DESCRIPTORS_MAX);
  close(ends[0]);
  close(ends[1]);
  return place(reader, pipe->fd) && place(writer, pipe->other);
}

static bool renew(const struct known *one) {
  switch (one->kind) {
    case EPOLL: return place(epoll_create1(EPOLL_CLOEXEC), one->fd);
    case EVENTFD: return place(eventfd(one->count, EFD_CLOEXEC | one->flags), one->fd);
    case PIPE: return renew_pipe(one);
    case NULL_DEVICE: return place(open("/dev/null", (one->flags & ~O_DIRECTORY) | O_CLOEXEC), one->fd);
  }
  return false;
}

const char *renew_descriptors(void) {
  for (int i = 0; i < known_count; i++) {
    if (!renew(&known[i])) return "renew a descriptor";
  }
  for (int i = 0; i < watched_count; i++) {
    if (epoll_ctl(watched[i].epoll, EPOLL_CTL_ADD, watched[i].fd, &watched[i].event) < 0) return "watch a descriptor";
  }
  return NULL;
}
