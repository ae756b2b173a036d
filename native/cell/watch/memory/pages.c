/*
 * Memory of single processes: a quick sum of private memory, and a survey that measures the pages shared by forked
 * processes and counts mappings.
 * Source: proc(5).
 */
#include "watch/memory/pages.h"
#include "spawns.h"
#include "watch/proc.h"
#include "watch/processes.h"
#include "watch/survey.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { MAPPING_BYTES = 256 }; /* a vm_area_struct and its share of the tree that holds it */

/*
 * Reads the process's private pages, the swapped-out ones included, and its page tables, which a sparse read-only mapping
 * makes large. Shared memory is tmpfs, which memory.c counts once. Returns false if there is no memory, because the process
 * or its first thread has ended. The guest chooses the name, but the kernel escapes it, so it cannot forge another line.
 */
static bool read_status(const char *path, uint64_t *bytes) {
  char text[4096];
  if (read_text(path, text, sizeof text) == 0 || !strstr(text, "\nVmSize:")) return false;
  *bytes = field_bytes(text, "\nRssAnon:") + field_bytes(text, "\nVmSwap:") + field_bytes(text, "\nVmPTE:");
  return true;
}

/* Threads share their memory, so the first live thread shows all of it. */
static uint64_t private_bytes_of_threads(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.10s/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  uint64_t bytes = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%.10s/task/%.10s/status", pid, entry->d_name);
    if (isdigit((unsigned char)entry->d_name[0]) && read_status(path, &bytes)) break;
  }
  closedir(folder);
  return bytes;
}

uint64_t private_bytes(const char *pid) {
  char path[64];
  uint64_t bytes = 0;
  snprintf(path, sizeof path, "/proc/%.10s/status", pid);
  return read_status(path, &bytes) ? bytes : private_bytes_of_threads(pid);
}

bool has_no_memory(pid_t pid) {
  char text[24];
  snprintf(text, sizeof text, "%ld", (long)pid);
  return private_bytes(text) == 0;
}

/* ---- the survey ---- */

/* Divides shared pages among the processes that share them. */
static uint64_t proportional_bytes(const char *pid) {
  char path[64];
  char text[2048];
  snprintf(path, sizeof path, "/proc/%.10s/smaps_rollup", pid);
  if (read_text(path, text, sizeof text) == 0 || !strstr(text, "\nPss_Anon:")) return private_bytes(pid);
  uint64_t anonymous = field_bytes(text, "\nPss_Anon:");
  if (snprintf(path, sizeof path, "/proc/%.10s/status", pid) < 0 || read_text(path, text, sizeof text) == 0) return anonymous;
  return anonymous + field_bytes(text, "\nVmSwap:") + field_bytes(text, "\nVmPTE:");
}

static uint64_t count_mappings(const char *folder, uint64_t most) {
  enum { MAPPINGS_MAX = 65530 }; /* vm.max_map_count */
  char path[96];
  snprintf(path, sizeof path, "%s/maps", folder);
  return is_hidden(folder, "maps") ? MAPPINGS_MAX : count_lines(path, most);
}

/* Listed when the survey starts, because only pid 1 can list its descendants. */
static long pids[PROCESSES_MAX];
static size_t pid_count;
static uint64_t enough_bytes;

static void look_at_pages(struct survey *survey, int given_fd) {
  (void)given_fd;
  /* The newest first: a guest that forks to evade the count has its memory in new processes. */
  for (size_t i = pid_count; i-- > 0;) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", pids[i]);
    survey->page_bytes += proportional_bytes(pid);
    uint64_t mappings = is_own_task(pids[i]) ? 0 : count_of_threads(pid, count_mappings, enough_bytes / MAPPING_BYTES + 1);
    survey->mapping_bytes += MAPPING_BYTES * mappings;
    bool is_enough = survey->page_bytes + survey->mapping_bytes > enough_bytes;
    if (!tell_survey(survey) || is_enough) return;
  }
}

void survey_pages(uint64_t enough) {
  if (!survey_is_due(SURVEY_OF_PROCESSES)) return;
  enough_bytes = enough;
  pid_count = list_processes(pids, PROCESSES_MAX);
  start_survey(SURVEY_OF_PROCESSES, look_at_pages, -1);
}
