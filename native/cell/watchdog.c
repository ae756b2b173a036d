/*
 * The watchdog: what pid 1 holds itself. The wall limit always, so that it holds while the host is busy; memory and
 * processor time where no cgroup does, and what waits in sockets that a cgroup does not charge. All but the wall limit
 * is a poll: a guest can pass the limit by what it allocates in one interval, and the receipt says `watchdog`.
 */
#include "cell.h"

#include <signal.h>
#include <time.h>

static struct watched watched;
static uint64_t look_us;
static uint64_t deadline_us;
static uint64_t disk_look_us;
static uint64_t tasks_max;

uint64_t now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

bool watchdog_counts(void) { return watched.memory_bytes > 0 || watched.cpu_us > 0; }

static bool watches_disk(void) { return cell.disk_bytes > 0; }

static bool looks(void) { return watchdog_counts() || watches_disk() || watched.socket_bytes > 0 || tasks_max > 0; }

void watch(struct watched limits) {
  watched = limits;
  tasks_max = 0;
  look_us = now_us() + WATCHDOG_INTERVAL_MS * 1000;
  deadline_us = now_us() + limits.wall_us;
  disk_look_us = look_us;
}

void watch_tasks(uint64_t most) { tasks_max = most; }

static int wait_ms(uint64_t until_us) {
  enum { LONGEST_MS = 60 * 1000 };
  uint64_t now = now_us();
  if (now >= until_us) return 0;
  uint64_t ms = (until_us - now + 999) / 1000; /* never a moment too early */
  return ms > LONGEST_MS ? LONGEST_MS : (int)ms;
}

int watchdog_wait_ms(void) {
  int counting = looks() ? wait_ms(look_us) : -1;
  int wall = watched.wall_us > 0 ? wait_ms(deadline_us) : -1;
  if (counting < 0 || wall < 0) return counting < 0 ? wall : counting;
  return counting < wall ? counting : wall;
}

static void end_guests(enum exceeded what, uint64_t observed) {
  uint8_t payload[12];
  put_u32(payload, what);
  put_u64(payload + 4, observed);
  report_usage();
  kill_guests(); /* there may be nothing left */
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_EXCEEDED}, payload);
  watched.wall_us = 0;
  look_us = UINT64_MAX; /* said once */
}

/* Walking through folders takes its time: a twentieth of ours at most. */
static bool look_at_disk(uint64_t now) {
  enum { DISK_INTERVAL_MS = 100, SHARE_OF_TIME = 20 };
  uint64_t over = work_bytes_over();
  if (over > 0) end_guests(EXCEEDED_DISK, over);
  uint64_t rest = (now_us() - now) * SHARE_OF_TIME;
  disk_look_us = now_us() + (rest > DISK_INTERVAL_MS * 1000 ? rest : DISK_INTERVAL_MS * 1000);
  return over > 0;
}

void watchdog_look(void) {
  uint64_t now = now_us();
  if (watched.wall_us > 0 && now >= deadline_us) {
    end_guests(EXCEEDED_WALL, watched.wall_us);
    return;
  }
  if (!looks() || now < look_us) return;
  look_us = now + WATCHDOG_INTERVAL_MS * 1000;
  uint64_t tasks = tasks_max > 0 ? count_tasks() : 0;
  if (tasks > tasks_max) {
    end_guests(EXCEEDED_PROCESSES, tasks);
    return;
  }
  if (watches_disk() && now >= disk_look_us && look_at_disk(now)) return;
  uint64_t waiting = watched.socket_bytes > 0 ? socket_memory(false).bytes : 0;
  if (waiting > watched.socket_bytes) {
    end_guests(EXCEEDED_MEMORY, waiting);
    return;
  }
  uint64_t memory = watched.memory_bytes > 0 ? memory_bytes(watched.memory_bytes) : 0;
  if (memory > watched.memory_bytes) {
    end_guests(EXCEEDED_MEMORY, memory);
    return;
  }
  uint64_t processor = watched.cpu_us > 0 ? processor_us() : 0;
  if (processor > watched.cpu_us) end_guests(EXCEEDED_CPU, processor);
}

/* Before a kill: a guest with much memory may be longer in dying than the host can wait. */
void report_usage(void) {
  if (!watchdog_counts()) return;
  uint8_t payload[16];
  put_u64(payload, processor_us());
  (void)memory_bytes(watched.memory_bytes);
  put_u64(payload + 8, memory_peak_bytes());
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_USAGE}, payload);
}
