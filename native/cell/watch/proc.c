/*
 * Reads /proc as text. Any process may end while it is being read.
 * Source: proc(5).
 */
#include "watch/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

size_t read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0; /* the process ended meanwhile */
  ssize_t count = read(fd, text, size - 1);
  close(fd);
  if (count < 0) count = 0;
  text[count] = 0;
  return (size_t)count;
}

uint64_t field_bytes(const char *text, const char *name) {
  const char *line = strstr(text, name);
  return line ? strtoull(line + strlen(name), NULL, 10) * 1024 : 0;
}

uint64_t count_lines(const char *path, uint64_t most) {
  static char text[8192];
  uint64_t lines = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0; /* the process ended meanwhile */
  for (ssize_t count; lines < most && (count = read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < count; i++) lines += text[i] == '\n';
  }
  close(fd);
  return lines;
}

/* If the first thread has ended, its other threads still show the process. */
uint64_t count_of_threads(const char *pid, uint64_t (*count)(const char *folder, uint64_t most), uint64_t most) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.10s", pid);
  uint64_t found = count(path, most);
  if (found > 0) return found;
  snprintf(path, sizeof path, "/proc/%.10s/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  for (struct dirent *entry; found == 0 && (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%.10s/task/%.10s", pid, entry->d_name);
    if (isdigit((unsigned char)entry->d_name[0])) found = count(path, most);
  }
  closedir(folder);
  return found;
}

static bool has_memory(const char *folder) {
  char path[96];
  char text[4096];
  snprintf(path, sizeof path, "%s/status", folder);
  return read_text(path, text, sizeof text) > 0 && strstr(text, "\nVmSize:");
}

/*
 * A process is hidden if it executes a file that its user cannot read. Our own child is, too, until it executes its
 * program, which takes only a moment.
 */
bool is_hidden(const char *folder, const char *name) {
  enum { TRIES = 20, TRY_US = 10 * 1000 };
  static int tries = TRIES; /* of one survey, for all hidden processes together */
  char path[96];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (;; tries--) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) close(fd);
    if (fd >= 0 || errno != EACCES || !has_memory(folder)) return false;
    if (tries <= 0) return true;
    struct timespec rest = {.tv_nsec = TRY_US * 1000};
    (void)nanosleep(&rest, NULL);
  }
}
