/*
 * The calls of redirect.h. Nothing here calls the kernel either; the same check holds for this file. What a real kernel
 * would never do (a name with a slash in a folder, a negative count of bytes) is not done here either.
 */
#include "fake-kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "fake-calls.h"
#include "fake-state.h"

enum {
  REPORT = 1,
  CONTROL = 3,
  FIRST_FD = 16,
  FDS_MAX = 4096,
  CALLS_MAX = 30000, /* ends a longer run: the launcher's loops end only with their host */
};

jmp_buf fake_end;

static uint32_t seed;
static uint64_t random_state;
static struct bytes control;
static struct bytes text;
static int next_fd;
static bool is_text[FDS_MAX];
static unsigned calls;
static uint64_t clock_ns;

/* What has been sent to the host, frame by frame. */
static struct sent {
  uint8_t header[9];
  size_t have;
  size_t left;
} sent[2];
static bool host_is_gone[2];

_Noreturn void found(const char *what) {
  fputs(what, stderr);
  fputs("\n", stderr);
  abort();
}

void fake_begin(uint32_t new_seed, struct bytes new_control, struct bytes new_text) {
  seed = new_seed;
  random_state = ((uint64_t)new_seed << 20) ^ 0x9e3779b97f4a7c15;
  control = new_control;
  text = new_text;
  next_fd = FIRST_FD;
  memset(is_text, 0, sizeof is_text);
  calls = 0;
  clock_ns = 1000000000;
  memset(sent, 0, sizeof sent);
  memset(host_is_gone, 0, sizeof host_is_gone);
  fake_begin_processes();
  fake_begin_files();
}

uint32_t take_seed(struct bytes *input) {
  uint32_t value = 0;
  if (input->left < 4) return 0;
  memcpy(&value, input->at, 4);
  input->at += 4;
  input->left -= 4;
  return value;
}

uint32_t fake_number(uint32_t bound) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return bound == 0 ? 0 : (uint32_t)(random_state >> 33) % bound;
}

bool fake_chance(uint32_t in) { return seed != 0 && fake_number(in) == 0; }

bool fake_is_perfect(void) { return seed == 0; }

struct bytes *fake_text(void) { return &text; }

_Noreturn void fake_exit(int code) {
  (void)code;
  longjmp(fake_end, 1);
}

void fake_count_call(void) {
  if (++calls > CALLS_MAX) fake_exit(0);
}

int fake_nothing(void) { return 0; }

int fake_succeed(void) {
  static const int errors[] = {ENOENT, EACCES, EINVAL, EAGAIN, EINTR, ENOSPC, ENOTDIR, EPERM};
  fake_count_call();
  if (!fake_chance(48)) return 0;
  errno = errors[fake_number(sizeof errors / sizeof *errors)];
  return -1;
}

/* ---- descriptors ---- */

int fake_open(void) {
  if (fake_succeed() < 0) return -1;
  if (next_fd >= FDS_MAX) next_fd = FIRST_FD;
  is_text[next_fd] = false;
  return next_fd++;
}

int fake_any_fd(void) { return next_fd++ % FDS_MAX; }

int fake_open_path(const char *path, int flags, ...) {
  if (!(flags & O_CLOEXEC)) found("open: would be inherited");
  bool proc = strncmp(path, "/proc/", 6) == 0; /* also reads to the path's end, as the kernel does */
  if (strlen(path) >= 4096) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int fd = fake_open();
  if (fd >= 0) is_text[fd] = proc;
  return fd;
}

/* Paths inside a folder that a guest may have made are opened one component at a time, and never through a link. */
int fake_openat(int folder, const char *name, int flags, ...) {
  size_t length = strlen(name);
  bool inside = folder != AT_FDCWD;
  if (inside && (length == 0 || length > 255 || strchr(name, '/'))) found("openat: not a single component");
  if (inside && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)) found("openat: a component that leads elsewhere");
  if ((inside && !(flags & O_NOFOLLOW)) || !(flags & O_CLOEXEC)) found("openat: follows links, or is inherited");
  if (!inside && !(flags & (O_NONBLOCK | O_NOFOLLOW))) found("openat: waits for what a guest has put there");
  return fake_open();
}

int fake_close(int fd) {
  if (fd >= FDS_MAX) found("close: a descriptor that was never opened");
  return fake_succeed();
}

static ssize_t give(struct bytes *from, void *buffer, size_t length) {
  size_t count = length < from->left ? length : from->left;
  if (count == 0) return 0;
  if (fake_chance(4)) count = 1 + fake_number((uint32_t)count);
  memcpy(buffer, from->at, count);
  from->at += count;
  from->left -= count;
  return (ssize_t)count;
}

ssize_t fake_read(int fd, void *buffer, size_t length) {
  if (fake_succeed() < 0) return -1;
  if (fd == CONTROL) return give(&control, buffer, length);
  if (fd == 0 || (fd > 0 && fd < FDS_MAX && is_text[fd])) {
    ssize_t count = give(&text, buffer, length);
    if (fd != 0) is_text[fd] = false; /* one read is one file */
    return count;
  }
  if (fake_chance(4)) return 0;
  size_t count = length > 200 && !fake_chance(16) ? 200 : length;
  memset(buffer, seed == 0 ? 0 : (int)fake_number(256), count);
  return (ssize_t)count;
}

static void send_byte(struct sent *stream, uint8_t byte, bool is_report) {
  if (stream->left > 0) {
    stream->left--;
    return;
  }
  stream->header[stream->have++] = byte;
  if (stream->have < sizeof stream->header) return;
  stream->have = 0;
  uint8_t type = stream->header[4];
  stream->left = stream->header[0] | (size_t)stream->header[1] << 8 | (size_t)stream->header[2] << 16 |
                 (size_t)stream->header[3] << 24;
  bool known = is_report ? type == 68 || type == 80 || type == 81 : type >= 64 && type <= 90;
  if (!known || stream->left > 1 << 20) found("write: a frame that the host would refuse");
}

ssize_t fake_write(int fd, const void *buffer, size_t length) {
  bool host = fd == CONTROL || fd == REPORT;
  if (host && host_is_gone[fd == REPORT]) {
    errno = EPIPE;
    return -1;
  }
  if (fake_succeed() < 0) {
    /* A full socket may be written again, a broken one stays broken. */
    if (host && errno != EINTR && !(errno == EAGAIN && fd == CONTROL)) host_is_gone[fd == REPORT] = true;
    return -1;
  }
  size_t count = length > 1 && fake_chance(8) ? 1 + fake_number((uint32_t)length) : length;
  const uint8_t *at = buffer;
  uint8_t sum = 0;
  for (size_t i = 0; i < count; i++) sum = (uint8_t)(sum + at[i]); /* reads every byte, so a sanitizer sees it */
  (void)*(volatile uint8_t *)&sum;
  if (host) {
    for (size_t i = 0; i < count; i++) send_byte(&sent[fd == REPORT], at[i], fd == REPORT);
  }
  return (ssize_t)count;
}

int fake_poll(struct pollfd *polled, nfds_t count) {
  fake_count_call();
  for (nfds_t i = 0; i < count; i++) {
    bool ready = polled[i].fd == CONTROL || seed == 0 || fake_number(2) == 0;
    polled[i].revents = polled[i].fd < 0 || !ready ? 0 : polled[i].events;
    if (polled[i].fd >= 0 && fake_chance(16)) polled[i].revents |= POLLHUP;
  }
  if (!fake_chance(64)) return (int)count;
  errno = EINTR;
  return -1;
}

int fake_pair(int fds[2]) {
  fds[0] = fake_open();
  fds[1] = fake_open();
  return fds[0] < 0 || fds[1] < 0 ? -1 : 0;
}

int fake_clock(struct timespec *time) {
  clock_ns += fake_number(30000000);
  *time = (struct timespec){.tv_sec = (time_t)(clock_ns / 1000000000), .tv_nsec = (long)(clock_ns % 1000000000)};
  return 0;
}

/* ---- the rest ---- */

long fake_syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  const char *name = NULL;
  long result = 0;
  switch (number) {
    case SYS_clone3:
      result = fake_clone(va_arg(arguments, const struct clone_args *));
      break;
    case SYS_open_tree:
    case SYS_pidfd_open:
    case SYS_fsopen:
    case SYS_fsmount:
      result = fake_open();
      break;
    case SYS_landlock_create_ruleset:
      result = va_arg(arguments, const void *) == NULL ? (long)fake_number(8) : fake_open();
      break;
    case SYS_openat2:
      (void)va_arg(arguments, int);
      name = va_arg(arguments, const char *);
      result = fake_openat2(name, va_arg(arguments, const struct open_how *));
      break;
    case SYS_getrandom:
      result = fake_getrandom(arguments);
      break;
    case SYS_pread64:
      result = fake_pread(arguments);
      break;
    case SYS_prlimit64:
      result = fake_prlimit(arguments);
      break;
    case SYS_setresuid:
      result = fake_setuid(va_arg(arguments, uid_t));
      break;
    case SYS_setgroups:
    case SYS_setresgid:
    case SYS_close_range:
    case SYS_mount_setattr:
    case SYS_move_mount:
    case SYS_fsconfig:
    case SYS_pivot_root:
    case SYS_landlock_add_rule:
    case SYS_landlock_restrict_self:
    case SYS_capset:
    case SYS_capget:
    case SYS_pidfd_send_signal:
      result = fake_succeed();
      break;
    default:
      found("syscall: a number that the fake kernel does not implement");
  }
  va_end(arguments);
  return result;
}
