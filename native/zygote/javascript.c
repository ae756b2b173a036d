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

enum { CHANNEL = 3, RETRY_MS = 5 };

static int *tid_address; /* of the main thread. Requested ahead, because a process that comes from vfork has none */
static void *robust_list;
static size_t robust_bytes;

const char *engine_prepare(void) {
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
  if (failed) {
    const char *why = errno == EEXIST ? thread_in_the_way() : strerror(errno);
    snprintf(problem, sizeof problem, "%s: %s", failed, why);
    return problem;
  }
  const char *in_the_way = note_descriptors(CHANNEL);
  return in_the_way ? in_the_way : "";
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
  return renew_descriptors();
}

int engine_serve(int socket_fd) {
  static const struct engine javascript = {.fork = fork_bare, .go_on = go_on};
  return fork_guests(socket_fd, &javascript);
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

/* ---- the timer ---- */

static timer_t timer;

static struct itimerspec in_ms(int delay_ms) {
  return (struct itimerspec){.it_value = {.tv_sec = delay_ms / 1000, .tv_nsec = delay_ms % 1000 * 1000000L}};
}

/* If the kernel refuses a thread for now, for example at the limit on processes, the timer tries again. */
static void on_timer(int signal) {
  (void)signal;
  int saved_errno = errno;
  struct itimerspec again = in_ms(RETRY_MS);
  if (!revive_threads()) timer_settime(timer, 0, &again, NULL);
  errno = saved_errno;
}

int engine_revive_after(int delay_ms) {
  if (delay_ms == 0) return 0;
  const int number = SIGRTMIN + 21; /* no engine here uses it */
  struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
  struct itimerspec when = in_ms(delay_ms);
  sigemptyset(&action.sa_mask);
  if (sigaction(number, &action, NULL) < 0) return errno;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0) return errno;
  return timer_settime(timer, 0, &when, NULL) < 0 ? errno : 0;
}
