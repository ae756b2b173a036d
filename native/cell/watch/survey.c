/*
 * Surveys: expensive measurements in separate processes (pages.c, locks.c, watches.c). The kernel may take longer for
 * one process than a deadline allows, and pid 1 must not miss the deadline. The surveyor reports its progress after
 * each process. Guests cannot stop it if they have another uid or Landlock scopes signals. Otherwise, if a survey fails,
 * the quick sum counts, which is never too low.
 */
#include "watch/survey.h"
#include "clock.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STALLED_US = 10 * 1000 * 1000 }; /* long enough for a very busy machine */

static struct surveyor {
  pid_t pid; /* 0 when there is none to reap */
  int news_fd; /* 0 while no survey is running */
  uint64_t began_us;
  uint64_t heard_us;
  uint64_t next_us;
  struct survey latest;
} surveyors[SURVEYS];

static uint64_t spent_us;
static uint32_t refused;

/* The descriptors that a surveyor keeps. */
enum { NEWS_FD, GIVEN_FD };
static int news_fd = NEWS_FD;

bool is_surveyor(long pid) {
  bool is_one = false;
  for (int of = 0; of < SURVEYS; of++) is_one = is_one || (surveyors[of].pid > 0 && surveyors[of].pid == pid);
  return is_one;
}

uint64_t surveyors_us(void) { return spent_us; }
uint32_t surveyors_refused(void) { return refused; }

void survey_reaped(pid_t pid, const struct rusage *usage) {
  for (int of = 0; of < SURVEYS; of++) {
    if (surveyors[of].pid != pid) continue;
    spent_us += time_us(usage->ru_utime) + time_us(usage->ru_stime);
    surveyors[of].pid = 0;
  }
}

bool tell_survey(const struct survey *survey) { return news_fd < 0 || write_exactly(news_fd, survey, sizeof *survey); }

/* Keeps only the pipe and one descriptor of pid 1, so it keeps no socket of the host open after pid 1 has ended. */
static _Noreturn void survey_and_leave(int to_fd, survey_look *look, int given_fd) {
  struct survey survey = {.state = SURVEY_RUNS};
  bool is_given = given_fd >= 0;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (dup2(to_fd, NEWS_FD) < 0 || (is_given && dup2(given_fd, GIVEN_FD) < 0)) _exit(1);
  if (syscall(SYS_close_range, is_given ? GIVEN_FD + 1 : GIVEN_FD, ~0U, 0) < 0) _exit(1);
  look(&survey, is_given ? GIVEN_FD : -1);
  survey.state = SURVEY_DONE;
  _exit(tell_survey(&survey) ? 0 : 1);
}

bool survey_is_due(enum survey_of of) {
  const struct surveyor *one = &surveyors[of];
  return one->pid <= 0 && one->news_fd == 0 && now_us() >= one->next_us;
}

/* Measures in pid 1 itself, although that takes time: guests that could prevent a measurement could hoard what it counts. */
static struct survey look_ourselves(survey_look *look, int given_fd) {
  struct survey survey = {.state = SURVEY_DONE};
  news_fd = -1;
  look(&survey, given_fd);
  news_fd = NEWS_FD;
  return survey;
}

void start_survey(enum survey_of of, survey_look *look, int given_fd) {
  struct surveyor *one = &surveyors[of];
  int news[2];
  if (pipe2(news, O_CLOEXEC) < 0) return;
  one->pid = fcntl(news[0], F_SETFL, O_NONBLOCK) == 0 ? fork() : -1;
  if (one->pid == 0) survey_and_leave(news[1], look, given_fd);
  if (one->pid < 0 && errno == EAGAIN) refused++;
  close(news[1]);
  one->began_us = one->heard_us = now_us();
  one->latest = (struct survey){.state = one->pid > 0 ? SURVEY_RUNS : SURVEY_FAILED};
  one->news_fd = news[0];
  /* If the survey of processes fails, the quick sum of memory counts, which is never too low. */
  if (one->pid < 0 && of != SURVEY_OF_PROCESSES) one->latest = look_ourselves(look, given_fd);
}

static void forget_survey(struct surveyor *one) {
  close(one->news_fd);
  one->news_fd = 0;
  one->next_us = now_us() + (now_us() - one->began_us); /* half of the time at most */
  if (one->pid > 0) (void)kill(one->pid, SIGKILL); /* not reaped yet, so the pid cannot have been reused */
  else one->pid = 0;
}

bool survey_is_under_way(enum survey_of of) { return surveyors[of].news_fd > 0; }

struct survey take_survey(enum survey_of of) {
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
  else if (one->pid > 0) (void)kill(one->pid, SIGCONT); /* in case somebody stopped it; 0 would be our own process group */
  return one->latest;
}
