/*
 * What the zygotes of Bun and Node share. Bun calls it through bun:ffi, Node through node.c.
 */
#include "javascript.h"
#include "fork_guests.h"
#include "descriptors.h"
#include "memory.h"
#include "seeds.h"
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

EXPORTED int engine_seed_bytes_left(void);
EXPORTED void engine_use_up_seeds(void);

enum { CHANNEL = 3 };

static int *tid_address; /* of the main thread. Requested ahead, because a process that comes from vfork has none */
static void *robust_list;
static size_t robust_bytes;

/* ---- the timer of a fork ---- */

/*
 * A fork has only its main thread, and it must not wait for ever for another one: for the collector's helpers, or for old
 * waiters to leave a condition variable that is signalled. So a timer brings the threads back, by a signal, because by then
 * the main thread may be waiting. The timer is armed whenever the engine's code runs without its threads. It is late,
 * because short runs end without needing them, and creating one takes about 40 us.
 */
enum {
  REVIVE_AFTER_MS = 4,
  /* Parking takes 2 ms on an idle machine. On a busy one, a parked fork should still be without threads. */
  REVIVE_PARKED_AFTER_MS = 50,
  /* The kernel may refuse a thread for now, for example at the limit on processes. */
  RETRY_MS = 5,
};

static timer_t timer;
static bool has_timer;

static void set_timer(int delay_ms) {
  struct itimerspec when = {.it_value = {.tv_sec = delay_ms / 1000, .tv_nsec = delay_ms % 1000 * 1000000L}};
  if (has_timer) timer_settime(timer, 0, &when, NULL);
}

static void on_timer(int signal) {
  (void)signal;
  int saved_errno = errno;
  if (!revive_threads()) set_timer(RETRY_MS);
  errno = saved_errno;
}

/* Without a timer (the kernel counts them against RLIMIT_SIGPENDING) the threads return at once. */
static bool arm_first_timer(void) {
  const int number = SIGRTMIN + 21; /* no engine here uses it */
  struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  sigemptyset(&action.sa_mask);
  if (sigaction(number, &action, NULL) < 0) return false;
  has_timer = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  set_timer(REVIVE_PARKED_AFTER_MS);
  return has_timer || revive_threads();
}

/* While it waits here, a fork needs no thread. It may wait for minutes, and with its threads it would take more memory. */
void engine_await_request(void) {
  struct pollfd channel = {.fd = CHANNEL, .events = POLLIN};
  if (!has_timer) return;
  set_timer(0);
  while (poll(&channel, 1, -1) < 0 && errno == EINTR) continue;
  set_timer(REVIVE_AFTER_MS);
}

/* ---- forks ---- */

static const char *prepare(void) {
  static char problem[160];
  /*
   * Threads that only wait for work when they are idle. Bun: JIT compilers, the garbage collector's helpers, the
   * allocator's threads, the thread pool. Node: V8's workers and their scheduler of delayed tasks, libuv's pool, and the
   * thread that waits for a debugger.
   */
  static const char *const idle[] = {"JITWorker", "HeapHelper", "ollector Thread", "JSCWarmUp", "mi-scavenger", "Bun Pool ",
                                     "DelayedTaskSche", "V8Worker", "libuv-worker", "SignalInspector", NULL};
  const char *failed = NULL;
  if (park_threads(idle) < 0) failed = "park its threads";
  else if (prctl(PR_GET_TID_ADDRESS, &tid_address) < 0) failed = "find the number of its main thread";
  else if (syscall(SYS_get_robust_list, 0, &robust_list, &robust_bytes) < 0) failed = "find its robust list";
  else if (!let_memory_be_forked()) failed = "have its memory forked";
  if (!failed) return note_descriptors(CHANNEL);
  const char *why = errno == EEXIST ? thread_in_the_way() : strerror(errno);
  snprintf(problem, sizeof problem, "%s: %s", failed, why);
  return problem;
}

/* The bytes that count against RLIMIT_DATA: the sixth number of /proc/self/statm, in pages. */
static bool report_ready(int socket_fd) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  bool is_known = file && fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages) == 1;
  if (file) fclose(file);
  return is_known && dprintf(socket_fd, "!zygote_data_bytes=%ld\n", pages * sysconf(_SC_PAGESIZE)) > 0;
}

/* As glibc's fork, without its handlers, and without giving away the stacks of the other threads. */
static pid_t fork_bare(void) {
  unsigned long flags = SIGCHLD | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  pid_t pid = (pid_t)syscall(SYS_clone, flags, NULL, NULL, tid_address, 0);
  if (pid == 0) syscall(SYS_set_robust_list, robust_list, robust_bytes);
  return pid;
}

/* As Node does at its start with descriptors that it inherits: programs that a guest starts do not get its channel. */
static const char *go_on(void) {
  if (fcntl(CHANNEL, F_SETFD, FD_CLOEXEC) < 0) return "keep the channel to itself";
  const char *failed = renew_descriptors();
  if (!failed && !arm_first_timer()) failed = "have its threads recreated";
  return failed;
}

const char *engine_serve(int socket_fd) {
  static const struct engine javascript = {.fork = fork_bare, .go_on = go_on};
  const char *problem = prepare();
  if (problem) return problem;
  if (!report_ready(socket_fd)) return "its memory cannot be reported";
  /* Skips the engine's own clean-up, which would need its threads. */
  if (fork_guests(socket_fd, &javascript) != 0) _exit(1);
  return "";
}

bool engine_has_new_variables(void) { return is_environment_new(); }

const char *engine_variable(int index) { return given_environment()[index]; }

int engine_process_id(void) { return getpid(); }

int engine_seed_bytes_left(void) { return seed_bytes_left(); }

void engine_use_up_seeds(void) { use_up_seeds(); }

/* ---- sample runs ---- */

static const int redirected[] = {1, CHANNEL};
enum { REDIRECTED = sizeof redirected / sizeof redirected[0] };
static int saved[REDIRECTED];

int engine_open_sample_channel(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return -1;
  for (int i = 0; i < REDIRECTED; i++) {
    saved[i] = fcntl(redirected[i], F_DUPFD_CLOEXEC, 0);
    if (saved[i] < 0 || dup2(pair[0], redirected[i]) < 0) return -1;
  }
  close(pair[0]);
  return pair[1];
}

bool engine_close_sample_channel(int other_end) {
  for (int i = 0; i < REDIRECTED; i++) {
    if (dup2(saved[i], redirected[i]) < 0) return false;
    close(saved[i]);
  }
  return close(other_end) == 0;
}
