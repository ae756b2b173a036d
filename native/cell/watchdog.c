/*
 * The watchdog: memory and processor time where no cgroup holds them. It lives in pid 1, inside the cell's own
 * /proc, so it sees exactly the cell's processes. It is a poll: a guest can pass the limit by what it allocates
 * in one interval, and the receipt says `watchdog`.
 */
#include "cell.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static uint64_t memory_max;
static uint64_t cpu_max_us;
static uint64_t due_ms;
static uint64_t memory_peak;
static bool has_watched;

static uint64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

void watch(uint64_t memory_bytes, uint64_t cpu_ms) {
  memory_max = memory_bytes;
  cpu_max_us = cpu_ms * 1000;
  due_ms = now_ms() + WATCHDOG_INTERVAL_MS;
  if (memory_max || cpu_max_us) has_watched = true;
}

bool watchdog_has_watched(void) { return has_watched; }

uint64_t watchdog_memory_peak(void) { return memory_peak; }

int watchdog_wait_ms(void) {
  if (memory_max == 0 && cpu_max_us == 0) return -1;
  uint64_t now = now_ms();
  return now >= due_ms ? 0 : (int)(due_ms - now);
}

static size_t read_text(const char *path, char *text, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0; /* the process ended meanwhile */
  ssize_t count = read(fd, text, size - 1);
  close(fd);
  if (count < 0) count = 0;
  text[count] = 0;
  return (size_t)count;
}

/* False where there is no memory: the process has ended, or its first thread has. */
static bool read_statm(const char *path, uint64_t *bytes) {
  char text[256];
  if (read_text(path, text, sizeof text) == 0) return false;
  char *next = NULL;
  uint64_t size = strtoull(text, &next, 10);
  uint64_t resident = strtoull(next, &next, 10);
  uint64_t shared = strtoull(next, &next, 10);
  *bytes = resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
  return size > 0;
}

/* Threads share their memory, so the first that is alive tells all of it. */
static uint64_t private_bytes_of_threads(const char *pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.10s/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  uint64_t bytes = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%.10s/task/%.10s/statm", pid, entry->d_name);
    if (isdigit((unsigned char)entry->d_name[0]) && read_statm(path, &bytes)) break;
  }
  closedir(folder);
  return bytes;
}

/* Pages that are the process's own: resident minus file and shared memory (tmpfs is counted once, below). */
static uint64_t private_bytes(const char *pid) {
  char path[64];
  uint64_t bytes = 0;
  snprintf(path, sizeof path, "/proc/%.10s/statm", pid);
  return read_statm(path, &bytes) ? bytes : private_bytes_of_threads(pid);
}

/* The same, with pages that forked processes share counted once. Dear (0.4 ms), so only to confirm. */
static uint64_t proportional_bytes(const char *pid) {
  char path[64];
  char text[2048];
  snprintf(path, sizeof path, "/proc/%.10s/smaps_rollup", pid);
  if (read_text(path, text, sizeof text) == 0) return private_bytes(pid);
  const char *line = strstr(text, "\nPss_Anon:");
  return line ? strtoull(line + sizeof "\nPss_Anon:" - 1, NULL, 10) * 1024 : private_bytes(pid);
}

static uint64_t sum_over_processes(uint64_t (*measure)(const char *pid)) {
  DIR *folder = opendir("/proc");
  if (!folder) fail("list the cell's processes");
  uint64_t sum = 0;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (isdigit((unsigned char)entry->d_name[0]) && strcmp(entry->d_name, "1") != 0) sum += measure(entry->d_name);
  }
  closedir(folder);
  return sum;
}

enum { TMPFS_MAGIC_NUMBER = 0x01021994, WRITABLE_MOUNTS = 3 };
static const char *const writable_mounts[WRITABLE_MOUNTS] = {"/tmp", "/dev/shm", "/workspace"};

static bool read_tmpfs(const char *path, struct statfs *facts) {
  return statfs(path, facts) == 0 && facts->f_type == TMPFS_MAGIC_NUMBER;
}

/* Files in memory outlive the processes that wrote them. */
static uint64_t tmpfs_bytes(void) {
  uint64_t sum = 0;
  struct statfs facts;
  for (int i = 0; i < WRITABLE_MOUNTS; i++) {
    if (read_tmpfs(writable_mounts[i], &facts)) sum += (facts.f_blocks - facts.f_bfree) * (uint64_t)facts.f_bsize;
  }
  return sum;
}

/* The evidence that a program which failed ran into its disk limit: no block or no inode is left. */
bool disk_is_full(void) {
  struct statfs facts;
  for (int i = 0; i < WRITABLE_MOUNTS; i++) {
    if (read_tmpfs(writable_mounts[i], &facts) && (facts.f_bavail == 0 || facts.f_ffree == 0)) return true;
  }
  return false;
}

static void end_guests(enum exceeded what, uint64_t observed) {
  uint8_t payload[12];
  put_u32(payload, what);
  put_u64(payload + 4, observed);
  (void)kill(-1, SIGKILL); /* everything but pid 1; there may be nothing left */
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_EXCEEDED}, payload);
  watch(0, 0);
}

/* What the whole cell uses now, in memory and in files in memory. */
static uint64_t measure_memory(void) {
  uint64_t files = tmpfs_bytes();
  uint64_t used = files + sum_over_processes(private_bytes);
  if (memory_max > 0 && used > memory_max) used = files + sum_over_processes(proportional_bytes);
  if (used > memory_peak) memory_peak = used;
  return used;
}

uint64_t watchdog_measure_memory(void) {
  (void)measure_memory();
  return memory_peak;
}

void watchdog_look(void) {
  if (watchdog_wait_ms() != 0) return;
  due_ms = now_ms() + WATCHDOG_INTERVAL_MS;
  if (memory_max) {
    uint64_t used = measure_memory();
    if (used > memory_max) {
      end_guests(EXCEEDED_MEMORY, used);
      return;
    }
  }
  if (cpu_max_us) {
    uint64_t used = processor_us();
    if (used > cpu_max_us) end_guests(EXCEEDED_CPU, used / 1000);
  }
}
