/*
 * The end of one process and of everything that it has started, where others have to go on. While it lives it is the
 * reaper of its descendants (PR_SET_CHILD_SUBREAPER, which survives execve, and the filter lets nobody give it up), so
 * none of them leaves its tree; it is stopped first and killed last.
 * Source: prctl(2), proc(5).
 */
#include "cell.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 200 };

/* One that nobody has reaped yet is no longer alive. */
static bool is_alive(long pid) {
  char path[64];
  char line[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, line, sizeof line - 1);
  close(fd);
  if (count <= 0) return false;
  line[count] = 0;
  const char *name_end = strrchr(line, ')'); /* a name may hold anything */
  return name_end && name_end[1] == ' ' && name_end[2] != 'Z' && name_end[2] != 'X';
}

/* How many were still alive. */
static size_t kill_descendants(pid_t root) {
  static long pids[PROCESSES_MAX];
  size_t count = list_descendants_of(root, pids, PROCESSES_MAX);
  size_t alive = 0;
  for (size_t i = 0; i < count; i++) {
    if (!is_alive(pids[i])) continue;
    alive++;
    (void)kill((pid_t)pids[i], SIGKILL);
  }
  return alive;
}

/* Each round kills every parent that forks on, so what forks has fewer rounds to do so than there are processes. */
void kill_tree(pid_t root) {
  const struct timespec pause = {.tv_nsec = 500 * 1000};
  (void)kill(root, SIGSTOP);
  for (int round = 0; round < ROUNDS_MAX && kill_descendants(root) > 0; round++) nanosleep(&pause, NULL);
  (void)kill(root, SIGKILL);
}
