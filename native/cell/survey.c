/*
 * Dear looks, by processes of their own: what the pages that forked processes share amount to and how many mappings there
 * are, how many locks (locks.c), and how many watches (watches.c). The kernel may take longer for one process than a
 * deadline allows, and pid 1 has to be there for the deadline. The surveyor tells how far it is after each process. Guests
 * cannot stop it where they have another uid or Landlock scopes signals; elsewhere a survey that fails leaves the quick
 * sum, which is never below.
 * Source: proc(5).
 */
#include "service.h"
#include "survey.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  MAPPING_BYTES = 256, /* a vm_area_struct, and its share of the tree that it stands in */
  STALLED_US = 10 * 1000 * 1000, /* of a machine that is very busy */
};

static struct surveyor {
  pid_t pid; /* 0 when there is none to reap */
  int news_fd; /* 0 when there is no survey under way */
  uint64_t began_us;
  uint64_t heard_us;
  uint64_t next_us;
  struct survey latest;
} surveyors[SURVEYS];

static uint64_t spent_us;
static long pids[PROCESSES_MAX]; /* as they were when it was started: who is asked for his descendants has to be pid 1 */
static size_t pid_count;

bool is_surveyor(long pid) {
  bool is_one = false;
  for (int of = 0; of < SURVEYS; of++) is_one = is_one || (surveyors[of].pid > 0 && surveyors[of].pid == pid);
  return is_one;
}

uint64_t surveyors_us(void) { return spent_us; }

void survey_reaped(pid_t pid, const struct rusage *usage) {
  for (int of = 0; of < SURVEYS; of++) {
    if (surveyors[of].pid != pid) continue;
    spent_us += time_us(usage->ru_utime) + time_us(usage->ru_stime);
    surveyors[of].pid = 0;
  }
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

bool is_own_task(long pid) {
  bool is_one = false;
  for (int i = 0; i < SPAWNS_MAX; i++) {
    const struct spawn *spawn = &service.spawns[i];
    is_one = is_one || (spawn->used && spawn->is_own_task && spawn->pid == pid);
  }
  return is_one;
}

static bool has_memory(const char *folder) {
  char path[96];
  char text[4096];
  snprintf(path, sizeof path, "%s/status", folder);
  return read_text(path, text, sizeof text) > 0 && strstr(text, "\nVmSize:");
}

/*
 * Nobody may look into a process that executes a file which its user cannot read, into one that has ended, or into a
 * child of ours that has not executed its program yet. The last is soon over.
 */
bool is_hidden(const char *folder, const char *name) {
  enum { TRIES = 20, TRY_US = 10 * 1000 };
  static int tries = TRIES; /* of one survey, however many hide */
  char path[96];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (;; tries--) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) close(fd);
    if (fd >= 0 || errno != EACCES || !has_memory(folder)) return false;
    if (tries <= 0) return true;
    struct timespec rest = {.tv_nsec = TRY_US * 1000};
    (void)nanosleep(&rest, NULL);
  }
}

uint64_t count_lines(const char *path, uint64_t most) {
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

/* Of a process whose first thread has ended, the others tell. */
uint64_t count_of_threads(const char *pid, uint64_t (*count)(const char *folder, uint64_t most), uint64_t most) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.10s", pid);
  uint64_t found = count(path, most);
  if (found > 0) return found;
  snprintf(path, sizeof path, "/proc/%.10s/task", pid);
  DIR *folder = opendir(path);
  if (!folder) return 0;
  for (struct dirent *entry; found == 0 && (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/%.10s/task/%.10s", pid, entry->d_name);
    if (isdigit((unsigned char)entry->d_name[0])) found = count(path, most);
  }
  closedir(folder);
  return found;
}

static uint64_t count_mappings(const char *folder, uint64_t most) {
  enum { MAPPINGS_MAX = 65530 }; /* vm.max_map_count */
  char path[96];
  snprintf(path, sizeof path, "%s/maps", folder);
  return is_hidden(folder, "maps") ? MAPPINGS_MAX : count_lines(path, most);
}

/* False when that is enough, or when nobody listens. */
static bool tell(int fd, const struct survey *survey, uint64_t enough_bytes) {
  if (!write_exactly(fd, survey, sizeof *survey)) return false;
  return survey->page_bytes + survey->mapping_bytes <= enough_bytes;
}

static void walk(int fd, uint64_t enough_bytes, struct survey *survey) {
  /* The latest first: whoever forks in order to be hard to see has them there. */
  for (size_t i = pid_count; i-- > 0;) {
    char pid[24];
    snprintf(pid, sizeof pid, "%ld", pids[i]);
    survey->page_bytes += proportional_bytes(pid);
    uint64_t mappings = is_own_task(pids[i]) ? 0 : count_of_threads(pid, count_mappings, enough_bytes / MAPPING_BYTES + 1);
    survey->mapping_bytes += MAPPING_BYTES * mappings;
    if (!tell(fd, survey, enough_bytes)) return;
  }
}

/* Of everything that pid 1 holds it keeps the pipe and the list of locks: no socket of the host's outlives pid 1 in it. */
static _Noreturn void survey_and_leave(int fd, enum survey_of of, uint64_t enough_bytes) {
  enum { NEWS, LOCKS, KEPT };
  struct survey survey = {.state = SURVEY_RUNS};
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (dup2(fd, NEWS) < 0 || (of == SURVEY_OF_LOCKS && dup2(cell.locks.fd, LOCKS) < 0)) _exit(1);
  if (syscall(SYS_close_range, of == SURVEY_OF_LOCKS ? KEPT : LOCKS, ~0U, 0) < 0) _exit(1);
  if (of == SURVEY_OF_LOCKS) survey.locks = count_locks(LOCKS, pids, pid_count);
  else if (of == SURVEY_OF_WATCHES) count_watches(NEWS, pids, pid_count, &survey);
  else walk(NEWS, enough_bytes, &survey);
  survey.state = SURVEY_DONE;
  _exit(write_exactly(NEWS, &survey, sizeof survey) ? 0 : 1);
}

void start_survey(enum survey_of of, uint64_t enough_bytes) {
  struct surveyor *one = &surveyors[of];
  int news[2];
  if (one->pid > 0 || one->news_fd > 0 || now_us() < one->next_us) return;
  if (pipe2(news, O_CLOEXEC) < 0) return;
  pid_count = of != SURVEY_OF_LOCKS || cell.is_warded ? list_processes(pids, PROCESSES_MAX) : 0;
  one->pid = fcntl(news[0], F_SETFL, O_NONBLOCK) == 0 ? fork() : -1;
  if (one->pid == 0) survey_and_leave(news[1], of, enough_bytes);
  close(news[1]);
  one->began_us = one->heard_us = now_us();
  one->latest = (struct survey){.state = one->pid > 0 ? SURVEY_RUNS : SURVEY_FAILED};
  one->news_fd = news[0];
}

static void forget_survey(struct surveyor *one) {
  close(one->news_fd);
  one->news_fd = 0;
  one->next_us = now_us() + (now_us() - one->began_us); /* half of the time at most */
  if (one->pid > 0) (void)kill(one->pid, SIGKILL); /* not reaped yet, so it is still that process */
  else one->pid = 0;
}

bool survey_is_under_way(enum survey_of of) { return surveyors[of].news_fd > 0; }

struct survey hear_survey(enum survey_of of) {
  struct surveyor *one = &surveyors[of];
  struct survey news;
  if (one->news_fd == 0) return (struct survey){.state = SURVEY_NONE};
  while (one->latest.state == SURVEY_RUNS) {
    ssize_t count = read(one->news_fd, &news, sizeof news);
    if (count < 0) break;
    one->heard_us = now_us();
    if (count == (ssize_t)sizeof news) one->latest = news;
    else one->latest.state = SURVEY_FAILED;
  }
  if (one->latest.state == SURVEY_RUNS && now_us() - one->heard_us > STALLED_US) one->latest.state = SURVEY_FAILED;
  if (one->latest.state != SURVEY_RUNS) forget_survey(one);
  else if (one->pid > 0) (void)kill(one->pid, SIGCONT); /* whoever stopped it; 0 would be our own process group */
  return one->latest;
}
