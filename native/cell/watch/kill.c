/*
 * Kills guests. Pid 1 of a namespace kills everything in it at once. Without one, Landlock's scope of signals, the
 * guests' uid, or the process tree below us limits a kill.
 * Source: kill(2), landlock(7), pidfd_send_signal(2).
 */
#include "watch/kill.h"
#include "cell.h"
#include "ids.h"
#include "watch/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * If our signals cannot reach the machine's init, they cannot reach any other unrelated process. Checked before every
 * kill(-1) outside a pid namespace, because one capability too many would end the whole machine.
 */
bool reaches_strangers(void) { return kill(1, 0) == 0 || errno != EPERM; }

/*
 * Waits for a helper that may have the guests' ids. Guests can stop such a process, so one that is stopped is killed. Returns
 * whether it has done its work.
 */
bool reap_helper(pid_t pid) {
  int status = 1;
  while (pid > 0) {
    pid_t changed = waitpid(pid, &status, WUNTRACED);
    if (changed < 0 && errno == EINTR) continue;
    if (changed < 0 || !WIFSTOPPED(status)) break;
    (void)kill(pid, SIGKILL);
  }
  return pid > 0 && status == 0;
}

/* Without a scope, the guests' uid limits a kill: nothing else on the machine has it. */
bool end_guests_by_uid(void) {
  pid_t pid = fork();
  if (pid == 0) {
    /* A change from one ordinary uid to another keeps the capabilities, CAP_KILL among them. */
    bool is_guest = cell.guest_changes_ids && drop_to_guest_ids() && drop_capabilities();
    if (!is_guest || getuid() != cell.guest_uid || reaches_strangers()) _exit(1);
    (void)kill(-1, SIGKILL);
    _exit(0);
  }
  return reap_helper(pid);
}

static bool has_ended(long pid) {
  char path[64];
  char text[512] = "";
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  (void)!read(fd, text, sizeof text - 1);
  close(fd);
  const char *state = strrchr(text, ')'); /* the guest chooses the name before it */
  return !state || state[2] == 'Z' || state[2] == 'X';
}

/*
 * Without a scope and without their own uid, guests are found one by one, and may fork in the meantime. A pidfd is
 * opened before the pid is checked a second time, so the pid cannot have been reused.
 */
static void end_one_by_one(void) {
  enum { ROUNDS_MAX = 1000 };
  static long pids[PROCESSES_MAX];
  static long again[PROCESSES_MAX];
  for (int round = 0; round < ROUNDS_MAX; round++) {
    size_t count = list_processes(pids, PROCESSES_MAX);
    size_t alive = 0;
    for (size_t i = 0; i < count; i++) {
      int pidfd = (int)syscall(SYS_pidfd_open, pids[i], 0);
      if (pidfd < 0) continue;
      size_t still = list_processes(again, PROCESSES_MAX);
      for (size_t j = 0; j < still; j++) {
        if (again[j] == pids[i] && !has_ended(pids[i]) && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0) alive++;
      }
      close(pidfd);
    }
    if (alive == 0) return;
  }
}

void kill_guests(void) {
  if (!cell.is_warded && getpid() == 1) (void)kill(-1, SIGKILL); /* all but us in our pid namespace */
  else if (cell.scoped && !reaches_strangers()) (void)kill(-1, SIGKILL); /* all but us in the domain */
  else if (!cell.guest_changes_ids || !end_guests_by_uid()) end_one_by_one();
}

void end_everything(int pidfd) {
  (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
  if (cell.is_warded) kill_guests();
}

/*
 * In a pid namespace everything ends with this process. Without one, the stub ends the guests afterwards. But the stub
 * may be stopped, so this process ends them too.
 */
_Noreturn void leave(void) {
  if (cell.is_warded) kill_guests();
  _exit(0);
}
