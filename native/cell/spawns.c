/*
 * The table of the processes that the host asked for.
 */
#include "spawns.h"

struct spawn spawns[SPAWNS_MAX];

struct spawn *find_spawn(uint32_t id) {
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used && spawns[i].id == id) return &spawns[i];
  }
  return NULL;
}

bool awaits_fork(void) {
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used && spawns[i].pid == 0) return true;
  }
  return false;
}

bool is_own_task(long pid) {
  bool is_one = false;
  for (int i = 0; i < SPAWNS_MAX; i++) {
    const struct spawn *spawn = &spawns[i];
    is_one = is_one || (spawn->used && spawn->is_own_task && spawn->pid == pid);
  }
  return is_one;
}
