/*
 * A guest that was started ahead of its run: from the BEGIN frame on it has the limits of the run, and its wall time
 * counts. Until then it has executed nothing but our harness.
 */
#include "serve/begin.h"
#include "cell.h"
#include "clock.h"
#include "frames.h"
#include "ids.h"
#include "spawns.h"
#include "serve/guests.h"
#include "serve/limits.h"
#include "watch/processor.h"
#include "watch/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Setting another process's limits needs its ids, or a capability that this program does without. A child process takes
 * the ids, because pid 1 would lose its fsuid and its PDEATHSIG with them.
 */
static void set_rlimits_of(pid_t pid, const struct guest_rlimits *rlimits) {
  if (rlimits->count == 0) return;
  if (!cell.guest_changes_ids) {
    if (!set_rlimits(rlimits, pid)) fail("set the rlimits of a guest");
    return;
  }
  pid_t child = fork();
  check(child, "fork a helper");
  if (child == 0) _exit(drop_to_guest_ids() && set_rlimits(rlimits, pid) ? 0 : (errno & 0x7f) | 0x80);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  errno = WIFEXITED(status) ? WEXITSTATUS(status) & 0x7f : EINTR;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("set the rlimits of a guest");
}

/*
 * Mounts whose size depends on the run. They are still empty, and no guest has been able to replace them.
 */
static bool resize_mounts(struct reader *request) {
  enum { MOUNTS_MAX = 8 };
  uint32_t count = take_u32(request);
  if (count > MOUNTS_MAX) return false;
  for (uint32_t i = 0; i < count; i++) {
    const char *path = take_string(request);
    uint64_t flags = take_u64(request);
    const char *options = take_string(request);
    if (request->bad) return false;
    check(mount("none", path, NULL, flags | MS_REMOUNT, options), "resize a mount");
  }
  return true;
}

bool begin_spawn(struct spawn *spawn, struct reader *request) {
  static struct guest_rlimits rlimits;
  spawn->started_us = now_us();
  struct watched limits = take_watched(spawn, request);
  if (!take_rlimits(&rlimits, request)) return false;
  uint64_t disk_bytes = take_u64(request);
  uint64_t disk_entries = take_u64(request);
  if (!resize_mounts(request) || !reader_done(request)) return false;
  spawn->used_before_us = processor_us_of(spawn->pid);
  watch(limits);
  if (watchdog_counts()) forget_processor_time();
  if (cell.work && disk_bytes > 0) {
    cell.disk_bytes = disk_bytes;
    cell.disk_entries = disk_entries;
  }
  add_others(&rlimits, spawn->pid);
  set_rlimits_of(spawn->pid, &rlimits);
  announce(spawn);
  return true;
}
