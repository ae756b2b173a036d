/*
 * Ends one process and everything that it has started, while others continue. The process is the subreaper of its
 * descendants, so none of them leaves its tree while it lives. (PR_SET_CHILD_SUBREAPER survives execve, and the filter
 * lets no command turn it off or create children elsewhere.) The process is stopped first and killed last.
 * Source: prctl(2), proc(5).
 */
#include "watch/tree.h"
#include "clock.h"
#include "watch/kill.h"
#include "watch/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TREE_KILL_US = 250 * 1000 };

/* The state letter of ps; 0 if the process no longer exists. */
static char state_of(long pid) {
  char path[64];
  char line[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t count = read(fd, line, sizeof line - 1);
  close(fd);
  if (count <= 0) return 0;
  line[count] = 0;
  const char *name_end = strrchr(line, ')'); /* a name may hold anything */
  return name_end && name_end[1] == ' ' ? name_end[2] : 0;
}

static bool has_ended(char state) { return state == 'Z' || state == 'X' || state == 0; }

/*
 * Kills everything below `root`. Returns true if this scan found only dead processes, and as many as the scan before.
 * One scan is not enough: a process that forks and exits may be scanned after it died, and its child before it exists.
 * But then the process is newly dead, or gone if `root` ignores SIGCHLD, so the two counts differ.
 */
static bool kill_descendants(pid_t root, size_t *dead_before) {
  static long pids[PROCESSES_MAX];
  size_t count = list_descendants_of(root, pids, PROCESSES_MAX);
  for (size_t i = 0; i < count; i++) (void)kill((pid_t)pids[i], SIGKILL);
  size_t dead = 0;
  for (size_t i = 0; i < count; i++) dead += state_of(pids[i]) == 'Z';
  bool is_quiet = dead == count && dead == *dead_before && count < PROCESSES_MAX;
  *dead_before = dead;
  return is_quiet;
}

/* Stops `root`, and waits some milliseconds for that: it may be inside a system call, or others may wake it. */
static void hold(pid_t root) {
  const struct timespec pause = {.tv_nsec = 100 * 1000};
  (void)kill(root, SIGSTOP);
  for (int tries = 0; tries < 50 && state_of(root) != 'T' && !has_ended(state_of(root)); tries++) nanosleep(&pause, NULL);
}

static bool is_blocked_by_main_thread(pid_t pid, int number) {
  char path[64];
  char status[4096];
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  ssize_t count = read(fd, status, sizeof status - 1);
  close(fd);
  if (count <= 0) return true;
  status[count] = 0;
  const char *line = strstr(status, "\nSigBlk:"); /* the kernel escapes a newline in a name */
  return !line || ((strtoull(line + strlen("\nSigBlk:"), NULL, 16) >> (number - 1)) & 1);
}

/*
 * Signals the main thread, to which the kernel delivers Ctrl-C first; Python handles signals only there. If a stopped
 * process gets a signal for the whole process, whichever thread runs first afterwards takes it, and a waiting main thread
 * would not wake. If the main thread blocks the signal, or has ended, another thread expects it.
 */
static void signal_process(pid_t pid, int number) {
  bool is_for_main = !has_ended(state_of(pid)) && !is_blocked_by_main_thread(pid, number);
  if (!is_for_main || syscall(SYS_tgkill, pid, pid, number) < 0) (void)kill(pid, number);
}

/* Signals the descendants first, because a shell waits for them. The stopped root starts nothing in the meantime. */
void signal_tree(pid_t root, int number) {
  static long pids[PROCESSES_MAX];
  bool holds = number != SIGSTOP && number != SIGCONT && state_of(root) != 'T';
  if (holds) hold(root);
  size_t count = list_descendants_of(root, pids, PROCESSES_MAX);
  for (size_t i = count; i-- > 0;) (void)kill((pid_t)pids[i], number);
  signal_process(root, number);
  if (holds) (void)kill(root, SIGCONT);
}

/*
 * Each round kills every parent that could fork again, so a fork bomb survives only a few rounds. Returns false if `root`
 * ends in the meantime, because others killed or woke it, or if something is still alive at the deadline: then nothing
 * shows any more which process belongs to which tree.
 */
static bool end_tree(pid_t root) {
  const struct timespec pause = {.tv_nsec = 200 * 1000};
  uint64_t deadline = now_us() + TREE_KILL_US;
  size_t dead = SIZE_MAX;
  if (has_ended(state_of(root))) return true;
  while (now_us() < deadline) {
    (void)kill(root, SIGSTOP);
    bool is_quiet = kill_descendants(root, &dead);
    char state = state_of(root);
    if (has_ended(state)) break;
    if (is_quiet && state == 'T') {
      (void)kill(root, SIGKILL);
      return true;
    }
    if (is_quiet || state != 'T') nanosleep(&pause, NULL);
  }
  return false;
}

/* With `spares_others`, pid 1 searches for processes that left the tree once `root` is gone: see serve/splits.c. */
void kill_tree(pid_t root, bool spares_others) {
  if (end_tree(root)) return;
  if (spares_others) (void)kill(root, SIGKILL);
  else kill_guests();
}

/* ---- processes without an owner ---- */

static long theirs[PROCESSES_MAX];

/* In ascending order. */
static size_t list_theirs(const pid_t *roots, size_t count) {
  size_t listed = 0;
  for (size_t i = 0; i < count && listed < PROCESSES_MAX; i++) {
    theirs[listed++] = roots[i];
    listed += list_descendants_of(roots[i], theirs + listed, PROCESSES_MAX - listed);
  }
  qsort(theirs, listed, sizeof *theirs, compare_pids);
  return listed;
}

/* Lists all processes first. One that is born later has its parent in the list, or is found in the next round. */
static bool kill_others(const pid_t *roots, size_t count) {
  static long pids[PROCESSES_MAX];
  size_t listed = list_processes(pids, PROCESSES_MAX);
  size_t kept = list_theirs(roots, count);
  size_t alive = 0;
  for (size_t i = 0; i < listed; i++) {
    if (bsearch(&pids[i], theirs, kept, sizeof *theirs, compare_pids) || has_ended(state_of(pids[i]))) continue;
    (void)kill((pid_t)pids[i], SIGKILL);
    alive++;
  }
  return alive == 0 && listed < PROCESSES_MAX && kept < PROCESSES_MAX;
}

/* As with a tree: if something is still alive at the deadline, all guests are killed. */
void kill_strangers(const pid_t *roots, size_t count) {
  const struct timespec pause = {.tv_nsec = 200 * 1000};
  uint64_t deadline = now_us() + TREE_KILL_US;
  while (!kill_others(roots, count)) {
    if (now_us() >= deadline) {
      kill_guests();
      return;
    }
    nanosleep(&pause, NULL);
  }
}
