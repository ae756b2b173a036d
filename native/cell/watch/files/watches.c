/*
 * Watches of epoll: some 200 bytes of the kernel's memory each, and a budget of the user (fs.epoll.max_user_watches)
 * that a guest with the service's uid shares with it. If the budget is used up, Node can watch nothing new and aborts. A
 * process with few descriptors can have very many watches: a watch stays while its file is open elsewhere, so one file can
 * be watched once under each descriptor number. So an instance with more watches than a process may have open files counts
 * as hoarding, and so does a very large total. Instances in flight through Unix sockets are not seen.
 * Source: epoll(7), proc_pid_fdinfo(5), fs/eventpoll.c.
 */
#include "watch/files/watches.h"
#include "spawns.h"
#include "watch/proc.h"
#include "watch/processes.h"
#include "watch/survey.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  WATCH_BYTES = 208,       /* an epitem and its entry in the wait queue of the file */
  WATCHES_MAX = 1 << 16,   /* 13 MiB */
  WATCHES_OF_ONE = 1024,   /* with a small limit on descriptors, watches of files that others hold open may exceed it */
  SHARE_OF_USER = 32,
  OTHER_LINES = 6,         /* before the watches, at most */
};

static const char instance[] = "anon_inode:[eventpoll]";

static uint64_t number_after(const char *path, const char *name, int word) {
  char text[4096];
  const char *at = read_text(path, text, sizeof text) > 0 ? strstr(text, name) : NULL;
  if (!at) return 0;
  char *end = NULL;
  uint64_t number = 0;
  at += strlen(name);
  for (int i = 0; i <= word; i++, at = end) number = strtoull(at, &end, 10);
  return number;
}

/* A part of the budget of the user: several cells together can use it up, but not one alone. */
static uint64_t watches_max(void) {
  uint64_t share = number_after("/proc/sys/fs/epoll/max_user_watches", "", 0) / SHARE_OF_USER;
  return share > 0 && share < WATCHES_MAX ? share : WATCHES_MAX;
}

static uint64_t watches_of_one_max(const char *folder) {
  char path[96];
  snprintf(path, sizeof path, "%s/limits", folder);
  uint64_t files = number_after(path, "Max open files", 1);
  return files > WATCHES_OF_ONE ? files : WATCHES_OF_ONE;
}

/* More than `most` if one instance has too many, or if a process cannot be inspected. */
static uint64_t count_in(const char *folder, uint64_t most) {
  char path[160];
  char target[32];
  uint64_t watches = 0; /* at least 1 once a descriptor is found: for 0, the other threads would be asked, too */
  uint64_t of_one_max = 0;
  snprintf(path, sizeof path, "%s/fd", folder);
  if (is_hidden(folder, "fd")) return most + 1;
  DIR *files = opendir(path);
  if (!files) return 0; /* it ended meanwhile */
  for (struct dirent *entry; watches <= most && (entry = readdir(files));) {
    ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target);
    if (watches == 0 && length >= 0) watches = 1;
    if (length != (ssize_t)strlen(instance) || memcmp(target, instance, (size_t)length) != 0) continue;
    if (of_one_max == 0) of_one_max = watches_of_one_max(folder);
    snprintf(path, sizeof path, "%s/fdinfo/%.10s", folder, entry->d_name);
    uint64_t lines = count_lines(path, of_one_max + OTHER_LINES + 1);
    if (lines > of_one_max + OTHER_LINES) watches = most;
    watches += lines;
  }
  closedir(files);
  return watches;
}

static long pids[PROCESSES_MAX];
static size_t pid_count;

static void look_at_watches(struct survey *survey, int given_fd) {
  (void)given_fd;
  uint64_t most = watches_max();
  for (size_t i = 0; i < pid_count && survey->watches <= most; i++) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", pids[i]);
    if (!is_own_task(pids[i])) survey->watches += count_of_threads(pid, count_in, most);
    if (!tell_survey(survey)) return;
  }
  if (survey->watches <= most) survey->watches = 0; /* few enough to ignore */
}

void survey_watches(void) {
  if (!survey_is_due(SURVEY_OF_WATCHES)) return;
  pid_count = list_processes(pids, PROCESSES_MAX);
  start_survey(SURVEY_OF_WATCHES, look_at_watches, -1);
}

uint64_t watch_bytes_over(const struct survey *survey) { return survey->watches * WATCH_BYTES; }
