/*
 * The limits of a guest that a SPAWN or BEGIN frame names.
 */
#ifndef LAZARET_LIMITS_H
#define LAZARET_LIMITS_H
#include "frames.h"
#include "spawns.h"
#include "watch/watchdog.h"

enum { RLIMITS_MAX = 16 };

struct guest_rlimit {
  uint32_t resource;
  bool beside_others;
  struct rlimit limit;
};

struct guest_rlimits {
  struct guest_rlimit each[RLIMITS_MAX];
  uint32_t count;
};

bool take_rlimits(struct guest_rlimits *rlimits, struct reader *request);
struct watched take_watched(struct spawn *spawn, struct reader *request);
void add_others(struct guest_rlimits *rlimits, pid_t pid); /* their usage, to each figure that has the flag */
bool set_rlimits(const struct guest_rlimits *rlimits, pid_t pid); /* of this process for 0, else of one with its ids */

#endif
