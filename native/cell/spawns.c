/*
 * The table of the processes that the host asked for.
 */
#include "spawns.h"
#include "frames.h"

struct spawn spawns[SPAWNS_MAX];
int spawn_places;

/* Separate from the table, so that a new process need not clear buffers that it may never use. */
static uint8_t inlet_bytes[SPAWNS_MAX][2][INLET_BYTES];

/* The first free entry, so that used entries stay together. */
struct spawn *add_spawn(uint32_t id) {
  int place = 0;
  while (place < spawn_places && spawns[place].used) place++;
  if (place == SPAWNS_MAX) return NULL;
  if (place == spawn_places) spawn_places++;
  spawns[place] = (struct spawn){
      .used = true,
      .id = id,
      .input = {.fd = -1, .taken_type = FRAME_STDIN_TAKEN, .bytes = inlet_bytes[place][0]},
      .channel = {.fd = -1, .taken_type = FRAME_CHANNEL_TAKEN, .bytes = inlet_bytes[place][1]},
  };
  return &spawns[place];
}

struct spawn *find_spawn(uint32_t id) {
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used && spawns[i].id == id) return &spawns[i];
  }
  return NULL;
}

bool awaits_fork(void) {
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used && spawns[i].pid == 0) return true;
  }
  return false;
}

bool is_own_task(long pid) {
  bool is_one = false;
  for (int i = 0; i < spawn_places; i++) {
    const struct spawn *spawn = &spawns[i];
    is_one = is_one || (spawn->used && spawn->is_own_task && spawn->pid == pid);
  }
  return is_one;
}
