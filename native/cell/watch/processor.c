/*
 * Processor time of the whole cell, if no cgroup counts it. The kernel adds the time of a process to the parent that
 * waits for it. If the parent ignores SIGCHLD, the time of its children is lost. So the watchdog remembers every process
 * from one scan to the next. Once processes have ended whose time no parent received, it estimates the lost time:
 * scans come at unpredictable moments, so each process that a scan finds running stands for one interval, which is exact
 * on average (Poisson sampling). The estimate never applies to programs that wait for their children.
 */
#include "watch/processor.h"
#include "clock.h"
#include "watch/look.h"
#include "watch/proc.h"
#include "watch/processes.h"
#include "watch/survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct times {
  long pid;
  uint64_t start;     /* with the pid, it identifies a process for ever */
  uint64_t own_us;    /* all its threads, including ended ones */
  uint64_t waited_us; /* children that it has waited for */
  uint64_t after_us;  /* average time that it uses after the last scan that finds it */
};

static struct times remembered[PROCESSES_MAX];
static size_t remembered_count;
static uint64_t gone_us;
static uint64_t gone_on_average_us;
static bool loses_time; /* a parent does not wait for its children */
static uint64_t forgotten_us;
static uint64_t last_us;

static uint64_t ticks_to_us(uint64_t ticks) { return ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK); }

/* Scales `us` by how much of the time in which it was runnable its first thread ran: others may have preempted it. */
static uint64_t running_share(long pid, uint64_t us) {
  char path[64];
  char text[128];
  snprintf(path, sizeof path, "/proc/%ld/schedstat", pid);
  if (read_text(path, text, sizeof text) == 0) return us;
  char *rest;
  uint64_t ran_us = strtoull(text, &rest, 10) / 1000;
  uint64_t waited_us = strtoull(rest, NULL, 10) / 1000;
  if (ran_us == 0) return 0; /* it has not run yet */
  if (ran_us > UINT32_MAX || waited_us > UINT32_MAX) return us;
  return us * ran_us / (ran_us + waited_us);
}

static const struct times *recall(long pid) {
  size_t low = 0;
  size_t high = remembered_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (remembered[middle].pid < pid) low = middle + 1;
    else high = middle;
  }
  return low < remembered_count && remembered[low].pid == pid ? &remembered[low] : NULL;
}

/* With several threads, the state is that of the first one, and says nothing about the others. */
static uint64_t after_us(const struct times *one, char state, uint64_t threads) {
  enum { THREADS_COUNTED = 8 };
  const uint64_t interval_us = WATCHDOG_INTERVAL_MS * 1000;
  if (state == 'Z' || state == 'X') return 0;
  const struct times *before = recall(one->pid);
  if (before && before->start != one->start) before = NULL;
  if (threads > 1) {
    if (before && before->own_us == one->own_us) return 0;
    return interval_us * (!loses_time ? 1 : threads < THREADS_COUNTED ? threads : THREADS_COUNTED);
  }
  if (state != 'R') return 0;
  return before && before->after_us > 0 ? before->after_us : running_share(one->pid, interval_us);
}

static bool read_times(long pid, struct times *times) {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  if (read_text(path, text, sizeof text) == 0) return false; /* it ended meanwhile */
  enum { USER = 14, SYSTEM, WAITED_USER, WAITED_SYSTEM, THREADS = 20, START = 22 };
  uint64_t fields[START + 1] = {0};
  char *field = strrchr(text, ')'); /* the guest chooses the name before it */
  char state = field && field[1] == ' ' ? field[2] : 'X';
  for (int number = 3; field && number <= START; number++) {
    field = strchr(field + 1, ' ');
    if (field) fields[number] = strtoull(field + 1, NULL, 10);
  }
  uint64_t exact_us = processor_us_of((pid_t)pid); /* /proc rounds both figures down to 10 ms */
  *times = (struct times){
      .pid = pid,
      .start = fields[START],
      .own_us = exact_us > 0 ? exact_us : ticks_to_us(fields[USER] + fields[SYSTEM]),
      .waited_us = ticks_to_us(fields[WAITED_USER] + fields[WAITED_SYSTEM]),
  };
  times->after_us = after_us(times, state, fields[THREADS]);
  return true;
}

/* Both lists are in ascending order. */
static void count_the_gone(const struct times *now, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < remembered_count; i++) {
    while (at < count && now[at].pid < remembered[i].pid) at++;
    bool still_there = at < count && now[at].pid == remembered[i].pid && now[at].start == remembered[i].start;
    if (still_there) continue;
    gone_us += remembered[i].own_us;
    gone_on_average_us += remembered[i].own_us + remembered[i].after_us;
  }
  memcpy(remembered, now, count * sizeof *now);
  remembered_count = count;
}

static uint64_t waited_for_us(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_CHILDREN, &usage);
  uint64_t waited = time_us(usage.ru_utime) + time_us(usage.ru_stime);
  return waited > surveyors_us() ? waited - surveyors_us() : 0;
}

/*
 * Time is being lost if the processes that are gone had used more time than parents have received. That cannot happen
 * in a program that waits for its children. /proc rounds the time of each process down, hence the allowance.
 */
static void judge_losses(uint64_t waited, size_t alive) {
  enum { CUT_OFF_US = 20 * 1000 };
  loses_time = loses_time || gone_us > waited + CUT_OFF_US * (alive + 1);
}

static uint64_t used_us(void) {
  static struct times now[PROCESSES_MAX];
  static long pids[PROCESSES_MAX];
  size_t listed = list_processes(pids, PROCESSES_MAX);
  size_t count = 0;
  uint64_t own = 0;
  uint64_t waited = waited_for_us();
  bool is_torn = false; /* a process ended during the scan, and its parent may have been read before it waited */
  for (size_t i = 0; i < listed; i++) {
    if (look_is_over()) return own + waited > last_us ? own + waited : last_us;
    const struct times *before = recall(pids[i]);
    if (read_times(pids[i], &now[count])) {
      own += now[count].own_us;
      waited += now[count++].waited_us;
    } else if (before) {
      is_torn = true;
      now[count++] = *before;
    }
  }
  count_the_gone(now, count);
  if (!is_torn) judge_losses(waited, count);
  uint64_t used = own + waited;
  if (loses_time && own + gone_on_average_us > used) used = own + gone_on_average_us;
  if (used > last_us) last_us = used;
  return last_us;
}

uint64_t processor_us(void) {
  uint64_t used = used_us();
  return used > forgotten_us ? used - forgotten_us : 0;
}

void forget_processor_time(void) {
  begin_look(LOOK_US);
  forgotten_us = used_us();
}

uint64_t processor_us_of(pid_t pid) {
  clockid_t clock;
  struct timespec used = {0};
  if (clock_getcpuclockid(pid, &clock) == 0) (void)clock_gettime(clock, &used);
  return (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}
