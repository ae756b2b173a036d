/*
 * The limits of a guest that the host names in a frame: those that the kernel enforces for each process, and those that
 * this program enforces. The host decides which, and with which figure (src/jail/limits).
 */
#include "serve/limits.h"
#include "cell.h"
#include "frames.h"
#include "spawns.h"
#include "watch/task_count.h"
#include "watch/watchdog.h"

#include <sys/syscall.h>
#include <unistd.h>

/* A flag in a resource's number: the usage of this user's other processes is added to the figure. */
enum { BESIDE_OTHERS = 1 << 8 };

bool take_rlimits(struct guest_rlimits *rlimits, struct reader *request) {
  rlimits->count = take_u32(request);
  if (rlimits->count > RLIMITS_MAX) return false;
  for (uint32_t i = 0; i < rlimits->count; i++) {
    uint32_t resource = take_u32(request);
    rlimits->each[i].resource = resource & ~(uint32_t)BESIDE_OTHERS;
    rlimits->each[i].beside_others = (resource & BESIDE_OTHERS) != 0;
    rlimits->each[i].limit.rlim_cur = take_u64(request);
    rlimits->each[i].limit.rlim_max = take_u64(request);
  }
  return !request->bad;
}

struct watched take_watched(struct spawn *spawn, struct reader *request) {
  spawn->output_left = take_u64(request);
  struct watched limits = {.memory_bytes = take_u64(request)};
  limits.cpu_us = take_u64(request) * 1000;
  limits.wall_us = take_u64(request) * 1000;
  limits.socket_bytes = take_u64(request);
  limits.tasks_max = take_u64(request);
  limits.files_max = take_u64(request);
  return limits;
}

/* Only the cell can count the other processes. The result never exceeds the present limit, which cannot be raised. */
void add_others(struct guest_rlimits *rlimits, pid_t pid) {
  for (uint32_t i = 0; i < rlimits->count; i++) {
    struct rlimit *limit = &rlimits->each[i].limit;
    struct rlimit inherited;
    if (!rlimits->each[i].beside_others) continue;
    check(syscall(SYS_prlimit64, pid, rlimits->each[i].resource, NULL, &inherited), "read an rlimit");
    rlim_t room = tasks_besides_guests() + limit->rlim_max;
    limit->rlim_cur = limit->rlim_max = room < inherited.rlim_max ? room : inherited.rlim_max;
  }
}

bool set_rlimits(const struct guest_rlimits *rlimits, pid_t pid) {
  for (uint32_t i = 0; i < rlimits->count; i++) {
    const struct guest_rlimit *one = &rlimits->each[i];
    if (syscall(SYS_prlimit64, pid, one->resource, &one->limit, NULL) < 0) return false;
  }
  return true;
}
