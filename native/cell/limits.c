/*
 * The limits of a guest that the host names in a frame: those that the kernel holds for each process, and those that
 * this program holds.
 */
#include "cell.h"

#include <sys/syscall.h>
#include <unistd.h>

bool take_rlimits(struct guest_rlimits *rlimits, struct reader *request) {
  rlimits->count = take_u32(request);
  if (rlimits->count > RLIMITS_MAX) return false;
  for (uint32_t i = 0; i < rlimits->count; i++) {
    rlimits->each[i].resource = take_u32(request);
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
  return limits;
}

/*
 * The kernel counts processes by uid. Without a user namespace everything that the service runs is in one count where
 * guests have its uid, every other cell too: a limit for one guest would be used up by its neighbours. There the
 * watchdog counts, and the kernel's limit, far above, stops what is faster than it.
 */
void count_tasks_ourselves(struct guest_rlimits *rlimits, pid_t pid) {
  enum { ROOM_FOR_ALL = 8192 };
  bool shares_count = cell.is_warded || cell.is_space;
  if (!shares_count || cell.guest_changes_ids) return;
  for (uint32_t i = 0; i < rlimits->count; i++) {
    struct rlimit *limit = &rlimits->each[i].limit;
    struct rlimit inherited;
    if (rlimits->each[i].resource != RLIMIT_NPROC || limit->rlim_max == 0) continue;
    check(syscall(SYS_prlimit64, pid, RLIMIT_NPROC, NULL, &inherited), "read an rlimit");
    watch_tasks(limit->rlim_max);
    rlim_t others = cell.is_warded ? tasks_besides_guests() : 0;
    rlim_t room = others + limit->rlim_max + ROOM_FOR_ALL;
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
