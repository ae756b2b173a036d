/*
 * Locks on files: the kernel keeps 192 bytes for each and charges them to nobody. Pid 1 counts them in the kernel's list,
 * which names the process of each lock and leaves out other pid namespaces. Guests cannot hide locks from it: the filter
 * refuses locks that belong to descriptors (F_OFD_SETLK) and processes that share a descriptor table, so record locks end
 * with their process. Only flock(2) locks are missed whose process has ended while others hold the descriptor: at most
 * one for each open file. Reading the list blocks every process of the machine that takes a lock. So pid 1 reads it only
 * after guests have used enough processor time to create many locks, and first checks whether it is long at all.
 * Source: proc_locks(5), fs/locks.c.
 */
#include "watch/files/locks.h"
#include "cell.h"
#include "clock.h"
#include "frames.h"
#include "record.h"
#include "watch/processes.h"
#include "watch/processor.h"
#include "watch/survey.h"
#include "watch/files/watches.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  LOCK_BYTES = 192,    /* a file_lock */
  LINE_BYTES_LEAST = 36,
  REST_US = 250 * 1000,
  SLICE_US = 50 * 1000, /* of processor time, in which a guest makes 50,000 */
};

/* Opens the list before it is hidden from the guests. */
void step_count_locks(struct reader *record) {
  const char *path = take_string(record);
  uint32_t most = take_u32(record);
  require_whole(record);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return; /* a kernel without locks */
  check(fd, "open the list of locks");
  cell.locks.fd = fd;
  cell.locks.most = most;
}

/* ---- when to look ---- */

struct used {
  long pid;
  uint64_t us;
};

/* Time of live processes; the locks of ended ones are gone. Both lists are in ascending order. */
static uint64_t used_since(const struct used *before, size_t before_count, const struct used *now, size_t count) {
  uint64_t sum = 0;
  size_t at = 0;
  for (size_t i = 0; i < count; i++) {
    while (at < before_count && before[at].pid < now[i].pid) at++;
    bool is_known = at < before_count && before[at].pid == now[i].pid && before[at].us <= now[i].us;
    sum += now[i].us - (is_known ? before[at].us : 0);
  }
  return sum;
}

static bool is_count_due(void) {
  static struct used before[PROCESSES_MAX];
  static struct used now[PROCESSES_MAX];
  static long pids[PROCESSES_MAX];
  static size_t before_count;
  static uint64_t next_us;
  if (now_us() < next_us) return false;
  next_us = now_us() + REST_US;
  size_t count = list_processes(pids, PROCESSES_MAX);
  for (size_t i = 0; i < count; i++) now[i] = (struct used){pids[i], processor_us_of((pid_t)pids[i])};
  if (used_since(before, before_count, now, count) < SLICE_US) return false;
  memcpy(before, now, count * sizeof *now);
  before_count = count;
  return true;
}

/* ---- the count ---- */

/* `12: POSIX  ADVISORY  WRITE 345 00:2f:1718 0 EOF`; a process that waits for a lock has an arrow after the number. */
static long owner_of(const char *line) {
  enum { WORDS_BEFORE_OWNER = 4 };
  const char *arrow = strstr(line, "-> ");
  const char *at = arrow ? arrow + strlen("-> ") : line;
  for (int word = arrow ? 1 : 0; word < WORDS_BEFORE_OWNER; word++) {
    at = strchr(at, ' ');
    if (!at) return 0;
    while (*at == ' ') at++;
  }
  return strtol(at, NULL, 10);
}

static int compare(const void *one, const void *other) {
  long a = *(const long *)one;
  long b = *(const long *)other;
  return (a > b) - (a < b);
}

/* The cell's processes when the count began, needed if the list names other processes too. */
static long pids[PROCESSES_MAX];
static size_t pid_count;

/* In its own pid namespace, a cell sees only its own pids. */
static bool is_ours(long pid) {
  if (pid <= 0) return false;
  return !cell.is_warded || bsearch(&pid, pids, pid_count, sizeof pid, compare);
}

static uint64_t count_locks(int fd) {
  static char text[8193]; /* the kernel returns whole lines, up to a page of them */
  uint64_t locks = 0;
  off_t at = (off_t)cell.locks.most * LINE_BYTES_LEAST;
  if (syscall(SYS_pread64, fd, text, 1, at) == 0) return 0; /* the list is too short for that many */
  at = 0;
  for (long length; (length = syscall(SYS_pread64, fd, text, sizeof text - 1, at)) > 0; at += length) {
    text[length] = 0;
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      locks += is_ours(owner_of(line));
    }
    if (locks > cell.locks.most) break;
  }
  return locks;
}

static void look_at_locks(struct survey *survey, int list_fd) { survey->locks = count_locks(list_fd); }

static void survey_locks(void) {
  if (!survey_is_due(SURVEY_OF_LOCKS)) return;
  pid_count = cell.is_warded ? list_processes(pids, PROCESSES_MAX) : 0;
  start_survey(SURVEY_OF_LOCKS, look_at_locks, cell.locks.fd);
}

/* ---- the answer ---- */

/* Creating watches takes processor time too, so both are counted at the same time. */
uint64_t lock_bytes_over(bool watches_too) {
  struct survey locks = take_survey(SURVEY_OF_LOCKS);
  struct survey watches = take_survey(SURVEY_OF_WATCHES);
  if (!survey_is_under_way(SURVEY_OF_LOCKS) && is_count_due()) {
    if (cell.locks.fd > 0) survey_locks();
    if (watches_too) survey_watches();
  }
  if (locks.state == SURVEY_DONE && locks.locks > cell.locks.most) return locks.locks * LOCK_BYTES;
  return watches.state == SURVEY_DONE ? watch_bytes_over(&watches) : 0;
}
