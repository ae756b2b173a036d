/*
 * Open files of all processes. Each descriptor counts, even if it shares its file with another.
 * Source: proc_pid_fd(5). From Linux 6.2 on, the size of that folder is the number of descriptors. Before 6.2, the size of
 * the process's descriptor table is used instead, which is never smaller.
 */
#include "watch/files/open_files.h"
#include "clock.h"
#include "watch/look.h"
#include "watch/proc.h"
#include "watch/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t size_of_table(long pid) {
  char path[48];
  char text[4096];
  snprintf(path, sizeof path, "/proc/%ld/status", pid);
  if (read_text(path, text, sizeof text) == 0) return 0; /* it ended meanwhile */
  const char *line = strstr(text, "\nFDSize:");
  return line ? strtoul(line + 8, NULL, 10) : 0;
}

static uint64_t descriptors_of(long pid) {
  char path[48];
  struct stat folder;
  snprintf(path, sizeof path, "/proc/%ld/fd", pid);
  if (stat(path, &folder) < 0) return 0;
  return folder.st_size > 0 ? (uint64_t)folder.st_size : size_of_table(pid);
}

uint64_t open_files(void) {
  enum { INTERVAL_US = 200 * 1000, REST_FACTOR = 20 };
  static long pids[PROCESSES_MAX];
  static uint64_t sum;
  static uint64_t next_us;
  uint64_t began = now_us();
  if (began < next_us) return sum;
  size_t count = list_processes(pids, PROCESSES_MAX);
  sum = 0;
  for (size_t i = 0; i < count && !look_is_over(); i++) sum += descriptors_of(pids[i]);
  uint64_t rest = (now_us() - began) * REST_FACTOR; /* a twentieth of the time at most */
  next_us = now_us() + (rest > INTERVAL_US ? rest : INTERVAL_US);
  return sum;
}
