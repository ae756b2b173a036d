/*
 * The watchdog enforces the limits of pid 1: always the wall limit, so that it holds while the host is busy; memory and
 * processor time if no cgroup does; and the bytes in sockets that a cgroup does not charge. All except the wall limit are
 * polled: a guest can exceed a limit by what it allocates in one interval, and the receipt says `watchdog`. Measurements
 * end with the deadline, whatever guests do to prolong them; surveys make the expensive ones.
 */
#include "watch/watchdog.h"
#include "cell.h"
#include "clock.h"
#include "frames.h"
#include "outbox.h"
#include "watch/kill.h"
#include "watch/files/locks.h"
#include "watch/look.h"
#include "watch/memory/memory.h"
#include "watch/files/open_files.h"
#include "watch/processes.h"
#include "watch/processor.h"
#include "watch/memory/sockets.h"
#include "watch/survey.h"
#include "watch/files/work.h"

#include <sys/syscall.h>
#include <unistd.h>

static struct watched watched;
static uint64_t look_us;
static uint64_t deadline_us;
static uint64_t processor_look_us;
static uint64_t disk_look_us;

bool watchdog_counts(void) { return watched.memory_bytes > 0 || watched.cpu_us > 0; }

/*
 * Exponentially distributed, so that the time already waited says nothing about the time left: a guest that knew the
 * next sample of processor time would use the time in between. The logarithm is linear between powers of two.
 */
static uint64_t random_interval_us(void) {
  enum { SHORTEST_US = 1000, LONGEST_US = 100 * 1000, PIECES = 1 << 10 };
  const uint64_t half_life_us = WATCHDOG_INTERVAL_MS * 693; /* ln 2 of the interval */
  static uint64_t state;
  if (state == 0 && syscall(SYS_getrandom, &state, sizeof state, 0) < 0) state = now_us();
  if (state == 0) state = 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  uint64_t drawn = state * 0x2545f4914f6cdd1dULL | 1;
  uint64_t halvings = (uint64_t)__builtin_clzll(drawn);
  uint64_t above = (drawn << halvings << 1) >> 54; /* the next ten bits: the fraction of the way to the next power of two */
  uint64_t us = halvings * half_life_us + half_life_us * (PIECES - above) / PIECES;
  return us < SHORTEST_US ? SHORTEST_US : us > LONGEST_US ? LONGEST_US : us;
}

static bool watches_disk(void) { return cell.disk_bytes > 0; }

static bool looks(void) {
  return watchdog_counts() || watches_disk() || watched.socket_bytes > 0 || watched.tasks_max > 0 || watched.files_max > 0;
}

void watch(struct watched limits) {
  watched = limits;
  look_us = now_us() + WATCHDOG_INTERVAL_MS * 1000;
  deadline_us = now_us() + limits.wall_us;
  processor_look_us = now_us() + random_interval_us();
  disk_look_us = look_us;
}

static int wait_ms(uint64_t until_us) {
  enum { LONGEST_MS = 60 * 1000 };
  uint64_t now = now_us();
  if (now >= until_us) return 0;
  uint64_t ms = (until_us - now + 999) / 1000; /* never a moment too early */
  return ms > LONGEST_MS ? LONGEST_MS : (int)ms;
}

int watchdog_wait_ms(void) {
  uint64_t next_us = watched.cpu_us > 0 && processor_look_us < look_us ? processor_look_us : look_us;
  int counting = looks() ? wait_ms(next_us) : -1;
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
  look_us = processor_look_us = UINT64_MAX; /* reported once */
}

/* Walking folders takes long: at most a twentieth of our time. */
static bool look_at_disk(uint64_t now) {
  enum { DISK_INTERVAL_MS = 100, SHARE_OF_TIME = 20 };
  uint64_t over = work_bytes_over();
  if (over > 0) end_guests(EXCEEDED_DISK, over);
  uint64_t rest = (now_us() - now) * SHARE_OF_TIME;
  disk_look_us = now_us() + (rest > DISK_INTERVAL_MS * 1000 ? rest : DISK_INTERVAL_MS * 1000);
  return over > 0;
}

/*
 * Returns whether the guests were ended. Sockets that no cgroup charges have their own limit, because they use up a
 * budget of the whole machine.
 */
static bool look_at_memory(void) {
  uint64_t waiting = watched.socket_bytes > 0 ? socket_memory(watched.memory_bytes > 0).from_machine : 0;
  uint64_t memory = watched.memory_bytes > 0 ? memory_bytes(watched.memory_bytes) : 0;
  /* Watches: a cgroup charges their memory, but their number counts against the user whose uid the guest has. */
  bool watches_too = watched.memory_bytes > 0 || !cell.guest_changes_ids;
  uint64_t locks = watched.memory_bytes > 0 || watched.socket_bytes > 0 ? lock_bytes_over(watches_too) : 0;
  uint64_t over = memory > watched.memory_bytes ? memory : waiting > watched.socket_bytes ? waiting : locks;
  if (over > 0) end_guests(EXCEEDED_MEMORY, over);
  return over > 0;
}

static bool look_at_tasks(void) {
  uint64_t tasks = watched.tasks_max > 0 ? count_tasks() : 0;
  if (tasks > watched.tasks_max) end_guests(EXCEEDED_PROCESSES, tasks);
  return tasks > watched.tasks_max;
}

/* What a list has no room for is not measured, so no limit that only we enforce would hold. */
static bool are_too_many(void) {
  if (!watchdog_counts() || !list_was_cut()) return false;
  end_guests(EXCEEDED_PROCESSES, PROCESSES_MAX);
  return true;
}

static bool look_at_files(void) {
  uint64_t files = watched.files_max > 0 ? open_files() : 0;
  if (files > watched.files_max) end_guests(EXCEEDED_FILES, files);
  return files > watched.files_max;
}

/* Whether the guests must end. Checked again between measurements, because each takes long. */
static bool is_past_deadline(void) {
  if (watched.wall_us == 0 || now_us() < deadline_us) return false;
  end_guests(EXCEEDED_WALL, watched.wall_us);
  return true;
}

void watchdog_look(void) {
  uint64_t now = now_us();
  if (is_past_deadline() || !looks()) return;
  begin_look_until(watched.wall_us > 0 ? deadline_us : UINT64_MAX);
  if (watched.cpu_us > 0 && now >= processor_look_us) {
    processor_look_us = now + random_interval_us();
    uint64_t processor = processor_us();
    if (processor > watched.cpu_us) {
      end_guests(EXCEEDED_CPU, processor);
      return;
    }
  }
  if (now < look_us) return;
  look_us = now + (survey_is_under_way(SURVEY_OF_PROCESSES) ? SURVEY_INTERVAL_US : WATCHDOG_INTERVAL_MS * 1000);
  if (look_at_tasks() || is_past_deadline() || look_at_files()) return;
  if (watches_disk() && now >= disk_look_us && look_at_disk(now)) return;
  if (is_past_deadline() || look_at_memory() || are_too_many()) return;
  (void)is_past_deadline();
}

/*
 * Measures usage before a kill, because a guest with much memory may take longer to die than the host can wait. For the
 * same reason the measurement is short: if it does not finish, the previous values are reported.
 */
void report_usage(void) {
  if (!watchdog_counts()) return;
  uint8_t payload[16];
  begin_look(LOOK_US);
  put_u64(payload, processor_us());
  begin_look(LOOK_US);
  (void)memory_bytes(watched.memory_bytes);
  put_u64(payload + 8, memory_peak_bytes());
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_USAGE}, payload);
}
