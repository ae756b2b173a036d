/*
 * Lists the cell's processes: in a pid namespace all except pid 1, otherwise the descendants of the warden. No process
 * leaves that tree, because the warden adopts orphans.
 * Source: proc(5), /proc/<pid>/task/<tid>/children.
 */
#include "watch/processes.h"
#include "cell.h"
#include "watch/survey.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool was_cut;

bool list_was_cut(void) { return was_cut; }

static size_t list_namespace(long *pids, size_t most) {
  DIR *folder = opendir("/proc");
  if (!folder) fail("list the cell's processes");
  size_t count = 0;
  for (struct dirent *entry; count < most && (entry = readdir(folder));) {
    long pid = isdigit((unsigned char)entry->d_name[0]) ? strtol(entry->d_name, NULL, 10) : 0;
    if (pid > 1 && !is_surveyor(pid)) pids[count++] = pid;
  }
  closedir(folder);
  was_cut = count == most;
  return count;
}

/* Adds the children of one thread. A thread with some thousand children has a file longer than the buffer. */
static size_t add_children(const char *path, long *pids, size_t most) {
  FILE *file = fopen(path, "re");
  size_t count = 0;
  if (!file) return 0; /* it has ended */
  while (count < most && fscanf(file, "%ld", &pids[count]) == 1) count++;
  fclose(file);
  return count;
}

/* Threads seen by the current walk. */
static size_t tasks_met;

static size_t add_children_of(long pid, long *pids, size_t most) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%ld/task", pid);
  DIR *folder = opendir(path);
  size_t count = 0;
  if (!folder) return 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    tasks_met++;
    snprintf(path, sizeof path, "/proc/%ld/task/%.10s/children", pid, entry->d_name);
    count += add_children(path, pids + count, most - count);
  }
  closedir(folder);
  return count;
}

int compare_pids(const void *one, const void *other) {
  long a = *(const long *)one;
  long b = *(const long *)other;
  return (a > b) - (a < b);
}

size_t list_descendants_of(long root, long *pids, size_t most) {
  size_t count = add_children_of(root, pids, most);
  tasks_met = 0;
  for (size_t at = 0; at < count; at++) count += add_children_of(pids[at], pids + count, most - count);
  return count;
}

static size_t list_descendants(long *pids, size_t most) {
  size_t listed = list_descendants_of((long)getpid(), pids, most);
  size_t count = 0;
  was_cut = listed == most; /* before surveyors are left out */
  for (size_t i = 0; i < listed; i++) {
    if (!is_surveyor(pids[i])) pids[count++] = pids[i];
  }
  size_t surveyors = listed - count;
  tasks_met -= tasks_met < surveyors ? tasks_met : surveyors;
  qsort(pids, count, sizeof *pids, compare_pids);
  return count;
}

size_t list_processes(long *pids, size_t most) {
  return cell.is_warded ? list_descendants(pids, most) : list_namespace(pids, most);
}

size_t count_tasks(void) {
  static long pids[PROCESSES_MAX];
  size_t count = list_descendants(pids, PROCESSES_MAX);
  return tasks_met > count ? tasks_met : count;
}
