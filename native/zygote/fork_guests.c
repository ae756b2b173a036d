/*
 * The part of the launcher that runs in the zygote: an interpreter with imported modules, which never runs guest code.
 * For each packet from a space's pid 1 it makes a child of that pid 1: a fork in the space's pid namespace forks again
 * and ends, and the kernel reparents the orphan to the namespace's pid 1. The orphan enters the other namespaces,
 * confines itself as any guest does (serve/guest.c) and returns to the interpreter.
 */
#include "fork_guests.h"
#include "cell.h"
#include "frames.h"
#include "packet.h"
#include "serve/forks.h"
#include "serve/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fork_request request;

/* ---- in the fork ---- */

static const char *enter_space(void) {
  size_t next = 0;
  int entered[NAMESPACE_KINDS];
  for (int i = 0; i < NAMESPACE_KINDS; i++) {
    entered[i] = (request.namespaces & namespace_kinds[i].flag) ? request.fds[next++] : -1;
  }
  /* First of all, so that the memory that it touches from now on is charged to its own cgroup. */
  for (uint32_t i = 0; i < request.joins; i++) {
    if (write(request.fds[next++], "0", 1) != 1) return "join a cgroup";
  }
  for (int i = 1; i < NAMESPACE_KINDS; i++) { /* it was created in its pid namespace */
    if (entered[i] >= 0 && setns(entered[i], (int)namespace_kinds[i].flag) < 0) return "enter a namespace";
  }
  return NULL;
}

static _Noreturn void give_up(int report_fd, const char *step) {
  report_failed_step(report_fd, step);
  _exit(127);
}

/*
 * For the space's pid 1, the guest begins when the exec pipe closes. An engine may need the number EXEC_FD for a
 * descriptor of its own, so the pipe moves to a higher number meanwhile.
 */
static void become_guest(const struct engine *engine) {
  enum { ABOVE_THE_ENGINES_OWN = 128 };
  int report_fd = request.guest_fds[EXEC_FD];
  const char *failed = enter_space();
  if (!failed && setsid() < 0) failed = "start a session";
  if (!failed) failed = arrange_descriptors(request.guest_fds);
  if (failed) give_up(report_fd, failed);
  report_fd = fcntl(EXEC_FD, F_DUPFD_CLOEXEC, ABOVE_THE_ENGINES_OWN);
  if (report_fd < 0) give_up(EXEC_FD, "copy the exec pipe");
  close(EXEC_FD);
  failed = confine_guest(&request.program);
  /* As after execve; otherwise it could not open its own /proc. */
  if (!failed && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) failed = "become dumpable";
  if (!failed && engine->go_on) failed = engine->go_on();
  if (failed) give_up(report_fd, failed);
  close(report_fd);
}

/* ---- in the zygote ---- */

/* The first report on the exec pipe: a zero instead of an errno, and the fork's pid in its namespace. */
static _Noreturn void announce_and_end(int fd, pid_t pid) {
  uint8_t report[8];
  put_u32(report, 0);
  put_u32(report + 4, (uint32_t)pid);
  if (pid < 0) report_failed_step(fd, "fork once more");
  else (void)write_exactly(fd, report, sizeof report);
  _exit(0);
}

/*
 * True in the new guest. The process between zygote and guest comes from vfork, which shares the zygote's memory instead
 * of copying its page tables; it only forks and ends. It must not return from this function, because it uses the
 * zygote's stack. The guest may: it has a copy.
 */
static bool fork_guest(const struct engine *engine, int own_pid_namespace) {
  int exec_fd = request.guest_fds[EXEC_FD];
  if (setns(request.fds[0], CLONE_NEWPID) < 0) {
    report_failed_step(exec_fd, "enter a pid namespace");
    return false;
  }
  if (engine->before) engine->before();
  pid_t pid = vfork();
  if (pid == 0) {
    pid_t guest = engine->fork();
    if (guest != 0) announce_and_end(exec_fd, guest);
    become_guest(engine);
    return true;
  }
  if (pid < 0) report_failed_step(exec_fd, "fork the zygote");
  /* Otherwise the next fork would fail, because a namespace ends with its pid 1. */
  bool is_back = setns(own_pid_namespace, CLONE_NEWPID) == 0;
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  if (engine->after) engine->after();
  if (!is_back) _exit(1);
  return false;
}

int fork_guests(int socket_fd, const struct engine *engine) {
  int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  if (own < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -1;
  for (;;) {
    enum taken taken = take_packet(&request, socket_fd);
    if (taken == ENDED) return 1;
    if (taken == BROKEN) return -1;
    if (taken == REFUSED) continue;
    if (fork_guest(engine, own)) return 0;
    forget_packet(&request);
  }
}

char *const *given_environment(void) { return request.program.environment; }

static bool is_among(const char *entry, char *const *entries) {
  while (*entries && strcmp(*entries, entry) != 0) entries++;
  return *entries != NULL;
}

bool is_environment_new(void) {
  char *const *given = given_environment();
  if (!given) return false;
  size_t count = 0;
  while (given[count] && environ[count] && is_among(given[count], environ)) count++;
  return given[count] || environ[count];
}
