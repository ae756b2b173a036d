/*
 * Dear looks, by a process of their own: what the pages that forked processes share amount to, how many mappings there
 * are, how many locks. The kernel may take longer for one process than a deadline allows, and pid 1 has to be there for
 * the deadline. The surveyor tells how far it is after each process. Guests cannot stop it where they have another uid
 * or Landlock scopes signals; elsewhere a survey that fails leaves the quick sum, which is never below.
 * Does not see: locks without namespaces, where the host's own are among them, and open file description locks, of
 * which the kernel tells no owner; the filter refuses those.
 * Source: proc(5), fs/locks.c.
 */
#include "survey.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  MAPPING_BYTES = 256, /* a vm_area_struct, and its share of the tree that it stands in */
  LOCK_BYTES = 224,    /* a file_lock, rounded up to its place in the slab */
  STALLED_US = 10 * 1000 * 1000, /* of a machine that is very busy */
};

static pid_t surveyor;
static int news_fd = -1;
static uint64_t began_us;
static uint64_t heard_us;
static uint64_t next_us;
static struct survey latest;
static uint64_t spent_us;
static long pids[PROCESSES_MAX]; /* as they were when it was started: who is asked for his descendants has to be pid 1 */
static size_t pid_count;

bool is_surveyor(long pid) { return surveyor > 0 && pid == surveyor; }

uint64_t surveyors_us(void) { return spent_us; }

void survey_reaped(pid_t pid, const struct rusage *usage) {
  if (!is_surveyor(pid)) return;
  spent_us += time_us(usage->ru_utime) + time_us(usage->ru_stime);
  surveyor = 0;
}

/* Forked processes' shared pages count for each by its share. */
static uint64_t proportional_bytes(const char *pid) {
  char path[64];
  char text[2048];
  snprintf(path, sizeof path, "/proc/%.10s/smaps_rollup", pid);
  if (read_text(path, text, sizeof text) == 0 || !strstr(text, "\nPss_Anon:")) return private_bytes(pid);
  uint64_t shared_out = field_bytes(text, "\nPss_Anon:");
  if (snprintf(path, sizeof path, "/proc/%.10s/status", pid) < 0 || read_text(path, text, sizeof text) == 0) return shared_out;
  return shared_out + field_bytes(text, "\nVmSwap:") + field_bytes(text, "\nVmPTE:");
}

/* The kernel hands out whole lines. */
static uint64_t count_lines(const char *path, uint64_t most) {
  static char text[8192];
  uint64_t lines = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0; /* the process ended meanwhile */
  for (ssize_t count; lines < most && (count = read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < count; i++) lines += text[i] == '\n';
  }
  close(fd);
  return lines;
}

/* Which part of these lines have an owner here. The first and the last may be cut off. */
static uint64_t own_part(char *text, uint64_t whole) {
  uint64_t lines = 0;
  uint64_t strangers = 0;
  char *line = text;
  for (char *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = 0;
    lines++;
    if (strstr(line, " -1 ")) strangers++;
  }
  return lines == 0 ? 0 : whole * (lines - strangers) / lines;
}

/*
 * Each read makes every call on the machine that takes a lock wait, so there are few: a look into each of some pieces,
 * which also tells whether there is so much. Locks that nobody here owns are not the cell's.
 */
static uint64_t lock_bytes(void) {
  enum { PIECES = 9, PIECE_BYTES = 512 << 10, LINE_BYTES = 56, LINES_BYTES = 3 << 10 /* fewer is the end of them */ };
  static char text[4097];
  uint64_t bytes = 0;
  int fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  for (int piece = 0; piece < PIECES; piece++) {
    long count = syscall(SYS_pread64, fd, text, sizeof text - 1, (off_t)piece * PIECE_BYTES);
    if (count <= 0 || count >= (long)sizeof text) break;
    text[count] = 0;
    bytes += own_part(text, count < LINES_BYTES ? (uint64_t)count : PIECE_BYTES);
  }
  close(fd);
  return bytes / LINE_BYTES * LOCK_BYTES;
}

/* False when that is enough, or when nobody listens. */
static bool tell(int fd, const struct survey *survey, uint64_t enough_bytes) {
  if (!write_exactly(fd, survey, sizeof *survey)) return false;
  return survey->page_bytes + survey->mapping_bytes + survey->lock_bytes <= enough_bytes;
}

static void walk(int fd, const struct survey_wish *wish, struct survey *survey) {
  char path[64];
  uint64_t enough = wish->enough_bytes;
  if (wish->locks) {
    survey->lock_bytes = lock_bytes();
    if (!tell(fd, survey, enough)) return;
  }
  /* The latest first: whoever forks in order to be hard to see has them there. */
  for (size_t i = pid_count; i-- > 0;) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", pids[i]);
    survey->page_bytes += proportional_bytes(pid);
    snprintf(path, sizeof path, "/proc/%s/maps", pid);
    survey->mapping_bytes += MAPPING_BYTES * count_lines(path, enough / MAPPING_BYTES + 1);
    if (!tell(fd, survey, enough)) return;
  }
}

/* Of everything that pid 1 holds it keeps the pipe alone: no socket of the host's outlives pid 1 in it. */
static _Noreturn void survey_and_leave(int fd, const struct survey_wish *wish) {
  struct survey survey = {.state = SURVEY_RUNS};
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (fd != 0 && dup2(fd, 0) < 0) _exit(1);
  if (syscall(SYS_close_range, 1, ~0U, 0) < 0) _exit(1);
  walk(0, wish, &survey);
  survey.state = SURVEY_DONE;
  _exit(write_exactly(0, &survey, sizeof survey) ? 0 : 1);
}

void start_survey(struct survey_wish wish) {
  int news[2];
  if (surveyor > 0 || news_fd >= 0 || now_us() < next_us) return;
  if (pipe2(news, O_CLOEXEC) < 0) return;
  pid_count = wish.processes ? list_processes(pids, PROCESSES_MAX) : 0;
  if (fcntl(news[0], F_SETFL, O_NONBLOCK) == 0) surveyor = fork();
  else surveyor = -1;
  if (surveyor == 0) survey_and_leave(news[1], &wish);
  close(news[1]);
  began_us = heard_us = now_us();
  latest = (struct survey){.state = surveyor > 0 ? SURVEY_RUNS : SURVEY_FAILED};
  news_fd = news[0];
}

static void forget_survey(void) {
  close(news_fd);
  news_fd = -1;
  next_us = now_us() + (now_us() - began_us); /* half of the time at most */
  if (surveyor > 0) (void)kill(surveyor, SIGKILL); /* not reaped yet, so it is still that process */
  else surveyor = 0;
}

bool survey_is_under_way(void) { return news_fd >= 0; }

struct survey hear_survey(void) {
  struct survey news;
  if (news_fd < 0) return (struct survey){.state = SURVEY_NONE};
  while (latest.state == SURVEY_RUNS) {
    ssize_t count = read(news_fd, &news, sizeof news);
    if (count < 0) break;
    heard_us = now_us();
    if (count == (ssize_t)sizeof news) latest = news;
    else latest.state = SURVEY_FAILED;
  }
  if (latest.state == SURVEY_RUNS && now_us() - heard_us > STALLED_US) latest.state = SURVEY_FAILED;
  if (latest.state != SURVEY_RUNS) forget_survey();
  else if (surveyor > 0) (void)kill(surveyor, SIGCONT); /* whoever stopped it */
  return latest;
}
