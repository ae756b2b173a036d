/*
 * The fake kernel's processes: children are only numbers, and end when the seed says so. A signal to a process that is
 * not a live child is a finding.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "fake-calls.h"
#include "fake-state.h"

enum { GUESTS_MAX = 64 };

static pid_t guests[GUESTS_MAX];
static size_t guest_count;
static pid_t next_pid;
static pid_t own_pid;
static uid_t own_uid;
static bool strangers_are_safe; /* the last probe said so, and nothing has changed since */

void fake_begin_processes(void) {
  guest_count = 0;
  next_pid = 100;
  own_pid = 1;
  own_uid = 0;
  strangers_are_safe = false;
}

pid_t fake_fork(void) {
  strangers_are_safe = false;
  if (fake_succeed() < 0) return -1;
  if (fake_chance(4)) return 0;
  if (guest_count < GUESTS_MAX) guests[guest_count++] = next_pid;
  return next_pid++;
}

pid_t fake_getpid(void) { return own_pid; }

void fake_be_outside(void) { own_pid = 4321; }

int fake_execve(const char *file, char *const arguments[], char *const environment[]) {
  size_t length = strlen(file);
  for (size_t i = 0; arguments[i]; i++) length += strlen(arguments[i]);
  for (size_t i = 0; environment[i]; i++) length += strlen(environment[i]);
  if (length > 1 << 20) found("execve: more text than a frame holds");
  if (fake_succeed() < 0) return -1;
  fake_exit(0);
}

/* A probe of pid 1 says whether kill(-1) would reach the machine. Only a namespace makes it unnecessary. */
int fake_kill(pid_t pid, int number) {
  if (pid == 1 && number == 0) {
    strangers_are_safe = fake_is_perfect() || !fake_chance(4);
    errno = strangers_are_safe ? EPERM : ESRCH;
    return -1;
  }
  bool known = pid == -1 && number == SIGKILL && (own_pid == 1 || strangers_are_safe);
  for (size_t i = 0; i < guest_count; i++) known = known || guests[i] == pid;
  if (!known || number <= 0 || number > 64) found("kill: not a child, or everything without a probe before it");
  return fake_succeed();
}

/* Reaps a child that waitid has named. */
static pid_t forget_guest(pid_t pid) {
  for (size_t i = 0; i < guest_count; i++) {
    if (guests[i] != pid) continue;
    guests[i] = guests[--guest_count];
    return pid;
  }
  errno = ECHILD;
  return -1;
}

int fake_waitid(siginfo_t *end) {
  fake_count_call();
  if (fake_succeed() < 0) return -1;
  if (end) end->si_pid = guest_count == 0 || fake_number(2) ? 0 : guests[fake_number((uint32_t)guest_count)];
  return 0;
}

pid_t fake_wait4(pid_t pid, int *status, int options, struct rusage *usage) {
  if (usage) *usage = (struct rusage){.ru_maxrss = fake_number(1 << 20)};
  if (status) *status = fake_is_perfect() ? 0 : fake_number(2) ? (int)fake_number(256) << 8 : 1 + (int)fake_number(31);
  if (!(options & WNOHANG)) return fake_succeed() < 0 ? -1 : pid;
  fake_count_call();
  if (guest_count == 0) {
    errno = ECHILD;
    return -1;
  }
  if (pid > 0) return forget_guest(pid);
  if (fake_number(2)) return 0;
  size_t which = fake_number((uint32_t)guest_count);
  pid_t ended = guests[which];
  guests[which] = guests[--guest_count];
  return ended;
}

long fake_clone(const struct clone_args *wanted) {
  pid_t pid = fake_fork();
  if (pid == 0) own_pid = 1;
  if (pid > 0) *(int *)(uintptr_t)wanted->pidfd = fake_any_fd();
  return pid;
}

int fake_prctl(int option, ...) {
  if (option != PR_CAPBSET_READ) return fake_succeed();
  va_list arguments;
  va_start(arguments, option);
  unsigned long number = va_arg(arguments, unsigned long);
  va_end(arguments);
  return number < 41 ? 1 : -1;
}

int fake_fsid(unsigned id) {
  static unsigned last;
  unsigned before = last;
  if (id != UINT32_MAX) last = id;
  return (int)(fake_chance(32) ? before + 1 : before);
}

int fake_setuid(uid_t uid) {
  strangers_are_safe = false;
  if (fake_succeed() < 0) return -1;
  own_uid = uid;
  return 0;
}

pid_t fake_getppid(void) { return 4000; }

uid_t fake_getuid(void) { return own_uid; }

int fake_getrlimit(struct rlimit *limit) {
  *limit = (struct rlimit){.rlim_cur = fake_number(1 << 18), .rlim_max = fake_number(1 << 18)};
  return fake_succeed();
}

/* Of another process, or of this one. */
long fake_prlimit(va_list arguments) {
  (void)va_arg(arguments, int);
  (void)va_arg(arguments, int);
  (void)va_arg(arguments, const struct rlimit *);
  struct rlimit *old = va_arg(arguments, struct rlimit *);
  return old ? fake_getrlimit(old) : fake_succeed();
}
