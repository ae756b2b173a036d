/*
 * Locks: the kernel keeps 192 bytes for each and charges them to nobody. Pid 1 counts them in a list that names the
 * process of each lock and leaves out those of other pid namespaces. Nobody disowns a lock that counts: the filter
 * refuses locks that belong to descriptors alone (F_OFD_SETLK), and processes that share their table of descriptors, so
 * record locks end with their process. What is left are locks of flock(2) whose process has ended while others have the
 * descriptor: no more than there are open files. To read that list makes everybody who takes a lock on the machine
 * wait. So it is read once guests have used enough processor time to have made many, and then it is first asked whether
 * it is long at all.
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

/* Opened before it is hidden from the guests. */
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

/* Of processes that are there: with a process that has ended its locks are gone. Both lists are in ascending order. */
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

/* As they were when the count began, where the list of locks names other processes too. */
static long pids[PROCESSES_MAX];
static size_t pid_count;

/* In its own pid namespace, a cell sees numbers of its own processes alone. */
static bool is_ours(long pid) {
  if (pid <= 0) return false;
  return !cell.is_warded || bsearch(&pid, pids, pid_count, sizeof pid, compare);
}

static uint64_t count_locks(int fd) {
  static char text[8193]; /* the kernel hands out whole lines, a page of them */
  uint64_t locks = 0;
  off_t at = (off_t)cell.locks.most * LINE_BYTES_LEAST;
  if (syscall(SYS_pread64, fd, text, 1, at) == 0) return 0; /* so it cannot be that many */
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

/* Watches take processor time to make as well, so both are counted at once. */
uint64_t lock_bytes_over(bool watches_too) {
  struct survey locks = hear_survey(SURVEY_OF_LOCKS);
  struct survey watches = hear_survey(SURVEY_OF_WATCHES);
  if (!survey_is_under_way(SURVEY_OF_LOCKS) && is_count_due()) {
    if (cell.locks.fd > 0) survey_locks();
    if (watches_too) survey_watches();
  }
  if (locks.state == SURVEY_DONE && locks.locks > cell.locks.most) return locks.locks * LOCK_BYTES;
  return watches.state == SURVEY_DONE ? watch_bytes_over(&watches) : 0;
}
