/*
 * Memory and disk of the whole cell, if no cgroup counts them: private pages of every process, files in memory, and
 * bytes in sockets (pages.c, sockets.c). Bytes in pipes are not counted; THREAT_MODEL.md says so. Apart from mappings,
 * the quick sum is never too low. A survey decides when the sum is above the limit.
 */
#include "watch/memory/memory.h"
#include "cell.h"
#include "clock.h"
#include "watch/look.h"
#include "watch/memory/pages.h"
#include "watch/proc.h"
#include "watch/processes.h"
#include "watch/memory/sockets.h"
#include "watch/survey.h"
#include "watch/files/work.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static uint64_t peak_bytes;

struct sum {
  uint64_t bytes;
  uint64_t largest; /* of one process: a lower bound, however much is shared */
};

static struct sum sum_over_processes(void) {
  static long pids[PROCESSES_MAX];
  size_t count = list_processes(pids, PROCESSES_MAX);
  struct sum sum = {0};
  for (size_t i = 0; i < count && !look_is_over(); i++) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", pids[i]);
    uint64_t bytes = private_bytes(pid);
    sum.bytes += bytes;
    if (bytes > sum.largest) sum.largest = bytes;
  }
  return sum;
}

enum { TMPFS_MAGIC_NUMBER = 0x01021994, WRITABLE_MOUNTS = 4 };
/*
 * The last one exists only in sandboxes: it is on the workspace's file system, or in a secure space on its own. /run is on
 * the file system of /tmp.
 */
static const char *const writable_mounts[WRITABLE_MOUNTS] = {"/tmp", "/dev/shm", "/workspace", "/home/guest"};

/* Also false for a folder on the same file system as an earlier one, because it is counted there. */
static bool read_tmpfs(int mount, struct statfs *facts) {
  static dev_t devices[WRITABLE_MOUNTS];
  struct stat folder;
  devices[mount] = 0;
  if (stat(writable_mounts[mount], &folder) < 0) return false;
  for (int i = 0; i < mount; i++) {
    if (devices[i] == folder.st_dev) return false;
  }
  devices[mount] = folder.st_dev;
  return statfs(writable_mounts[mount], facts) == 0 && facts->f_type == TMPFS_MAGIC_NUMBER;
}

/* Files in memory outlive the processes that wrote them. */
static uint64_t tmpfs_bytes(void) {
  if (cell.work) return 0; /* these are the host's own, and the run's folder has its own limit */
  uint64_t sum = 0;
  struct statfs facts;
  for (int i = 0; i < WRITABLE_MOUNTS; i++) {
    if (read_tmpfs(i, &facts)) sum += (facts.f_blocks - facts.f_bfree) * (uint64_t)facts.f_bsize;
  }
  return sum;
}

/* Evidence that a failed program reached its disk limit: no block or no inode is left. */
bool disk_is_full(void) {
  if (cell.work) return work_is_full();
  struct statfs facts;
  for (int i = 0; i < WRITABLE_MOUNTS; i++) {
    if (read_tmpfs(i, &facts) && (facts.f_bavail == 0 || facts.f_ffree == 0)) return true;
  }
  return false;
}

static uint64_t unreclaimable_bytes(void) {
  char text[4096];
  return read_text("/proc/meminfo", text, sizeof text) > 0 ? field_bytes(text, "\nSUnreclaim:") : 0;
}

/*
 * Reading the slab size of the whole machine is cheap, and shows when somebody may be hoarding memory that is charged to
 * nobody: mappings and locks. A survey then finds out how much of it belongs to the cell; the rest becomes the new
 * baseline. Surveys also run from time to time, because memory that others free can hide what the cell takes.
 */
static bool is_survey_due(void) {
  enum { SUSPICIOUS_BYTES = 8 << 20, REST_US = 250 * 1000, LONGEST_US = 5 * 1000 * 1000 };
  static uint64_t least;
  static uint64_t next_us;
  static uint64_t surveyed_us;
  uint64_t now = now_us();
  if (now < next_us) return false;
  next_us = now + REST_US;
  if (surveyed_us == 0) surveyed_us = now;
  uint64_t bytes = unreclaimable_bytes();
  if (least == 0 || bytes < least) least = bytes;
  if (bytes - least <= SUSPICIOUS_BYTES && now - surveyed_us < LONGEST_US) return false;
  least = bytes;
  surveyed_us = now;
  return true;
}

uint64_t memory_bytes(uint64_t limit) {
  struct socket_memory sockets = socket_memory(true);
  uint64_t outside = tmpfs_bytes() + sockets.bytes;
  struct sum sum = sum_over_processes();
  struct survey survey = take_survey(SURVEY_OF_PROCESSES);
  uint64_t room = limit > outside ? limit - outside : 0;
  uint64_t used = outside + sum.bytes;
  uint64_t proven = used; /* what is reported as the peak */
  bool may_exceed = limit > 0 && used + sockets.at_most_more > limit;
  if (survey.state == SURVEY_DONE) {
    proven = used = outside + survey.page_bytes + survey.mapping_bytes;
  } else if (may_exceed) {
    proven = outside + sum.largest;
    if (survey.state != SURVEY_FAILED) used = proven;
  }
  bool is_suspicious = limit > 0 && is_survey_due();
  if (survey.state != SURVEY_DONE && (may_exceed || is_suspicious)) survey_pages(room);
  if (proven > peak_bytes) peak_bytes = proven;
  return used + sockets.at_most_more; /* an estimate can end a run, but is not reported as its peak */
}

uint64_t memory_peak_bytes(void) { return peak_bytes; }
