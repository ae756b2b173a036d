/*
 * Finds mappings that are marked MADV_DONTFORK, in /proc/self/smaps, and undoes that. Mappings that are wiped in a fork
 * (MADV_WIPEONFORK: the state of random number generators) stay so.
 */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { MAPPINGS_MAX = 1024 };

struct mapping {
  uintptr_t from;
  uintptr_t until;
};

/* How many are marked, or -1. The whole file is read before anything changes, because a change moves later entries. */
static int list_marked(struct mapping marked[MAPPINGS_MAX]) {
  FILE *file = fopen("/proc/self/smaps", "re");
  if (!file) return -1;
  static char line[4096];
  struct mapping current = {0, 0};
  int count = 0;
  while (count >= 0 && fgets(line, sizeof line, file)) {
    struct mapping next;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &next.from, &next.until) == 2) current = next;
    bool is_flags = strncmp(line, "VmFlags:", strlen("VmFlags:")) == 0;
    if (!is_flags || !strstr(line, " dc") || strstr(line, " io")) continue;
    if (count < MAPPINGS_MAX) marked[count++] = current;
    else count = -1;
  }
  fclose(file);
  if (count < 0) errno = E2BIG;
  return count;
}

bool let_memory_be_forked(void) {
  static struct mapping marked[MAPPINGS_MAX];
  int count = list_marked(marked);
  for (int i = 0; i < count; i++) {
    if (madvise((void *)marked[i].from, marked[i].until - marked[i].from, MADV_DOFORK) < 0) return false;
  }
  return count >= 0;
}
