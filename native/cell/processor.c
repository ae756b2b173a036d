/*
 * Processor time of the whole cell, where no cgroup counts it. What a process used goes to whoever waits for it, but a
 * parent that ignores SIGCHLD waits for nobody and the time is lost; so every process is also remembered from one look
 * to the next. What starts and ends between two looks, unwaited for, stays unseen.
 */
#include "cell.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* More than PROCESSES_MAX at one time are counted only when they are waited for. */

struct times {
  long pid;
  uint64_t start;     /* with the pid it names a process for ever */
  uint64_t own_us;    /* all its threads, the ended ones too */
  uint64_t waited_us; /* children that it has waited for */
};

static struct times remembered[PROCESSES_MAX];
static size_t remembered_count;
static uint64_t gone_us;
static uint64_t forgotten_us;

static uint64_t ticks_to_us(uint64_t ticks) { return ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK); }

static bool read_times(long pid, struct times *times) {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false; /* it ended meanwhile */
  ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  if (count <= 0) return false;
  text[count] = 0;
  enum { USER = 14, SYSTEM, WAITED_USER, WAITED_SYSTEM, START = 22 };
  uint64_t fields[START + 1] = {0};
  char *field = strrchr(text, ')'); /* the name before it is the guest's to choose */
  for (int number = 3; field && number <= START; number++) {
    field = strchr(field + 1, ' ');
    if (field) fields[number] = strtoull(field + 1, NULL, 10);
  }
  *times = (struct times){
      .pid = pid,
      .start = fields[START],
      .own_us = ticks_to_us(fields[USER] + fields[SYSTEM]),
      .waited_us = ticks_to_us(fields[WAITED_USER] + fields[WAITED_SYSTEM]),
  };
  return true;
}

/* Both lists are in ascending order. */
static void count_the_gone(const struct times *now, size_t count) {
  size_t at = 0;
  for (size_t i = 0; i < remembered_count; i++) {
    while (at < count && now[at].pid < remembered[i].pid) at++;
    bool still_there = at < count && now[at].pid == remembered[i].pid && now[at].start == remembered[i].start;
    if (!still_there) gone_us += remembered[i].own_us;
  }
  memcpy(remembered, now, count * sizeof *now);
  remembered_count = count;
}

uint64_t time_us(struct timeval time) { return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec; }

static uint64_t waited_for_us(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_CHILDREN, &usage);
  return time_us(usage.ru_utime) + time_us(usage.ru_stime);
}

/* Two counts that each miss something and add nothing: what was waited for, and what was seen. */
static uint64_t used_us(void) {
  static struct times now[PROCESSES_MAX];
  static long pids[PROCESSES_MAX];
  size_t listed = list_processes(pids, PROCESSES_MAX);
  size_t count = 0;
  uint64_t own = 0;
  uint64_t waited = waited_for_us();
  struct times times;
  for (size_t i = 0; i < listed; i++) {
    if (!read_times(pids[i], &times)) continue;
    own += times.own_us;
    waited += times.waited_us;
    now[count++] = times;
  }
  count_the_gone(now, count);
  uint64_t seen = gone_us + own;
  return own + waited > seen ? own + waited : seen;
}

uint64_t processor_us(void) {
  uint64_t used = used_us();
  return used > forgotten_us ? used - forgotten_us : 0;
}

void forget_processor_time(void) { forgotten_us = used_us(); }

uint64_t processor_us_of(pid_t pid) {
  clockid_t clock;
  struct timespec used = {0};
  if (clock_getcpuclockid(pid, &clock) == 0) (void)clock_gettime(clock, &used);
  return (uint64_t)used.tv_sec * 1000000 + (uint64_t)used.tv_nsec / 1000;
}
