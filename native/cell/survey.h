/*
 * Dear looks, by a process of their own (survey.c), and what they share with the quick ones.
 */
#ifndef LAZARET_SURVEY_H
#define LAZARET_SURVEY_H

#include "cell.h"

/* What is to be summed up, and where it may stop because that is more than enough. */
struct survey_wish {
  bool processes; /* their pages, with those that forked processes share counted once, and their mappings */
  bool locks;
  uint64_t enough_bytes;
};

struct survey {
  enum { SURVEY_NONE, SURVEY_RUNS, SURVEY_DONE, SURVEY_FAILED } state;
  uint64_t page_bytes; /* where it stopped early: so much and perhaps more */
  uint64_t mapping_bytes;
  uint64_t lock_bytes;
};

void start_survey(struct survey_wish wish); /* unless one is under way, or only just over */
bool survey_is_under_way(void);
struct survey hear_survey(void);           /* a survey that is over is told once */
bool is_surveyor(long pid);
void survey_reaped(pid_t pid, const struct rusage *usage);
uint64_t surveyors_us(void);               /* processor time that is ours, not the guests' */

size_t read_text(const char *path, char *text, size_t size);
uint64_t field_bytes(const char *text, const char *name);
uint64_t private_bytes(const char *pid);
uint64_t lock_bytes_over(void);            /* where a cgroup counts the rest; 0 when they are not too many */

enum {
  LOCKS_BYTES_MAX = 16 << 20, /* 70,000 locks: far more than programs hold, and reading more would take long */
  LOOK_US = 5 * 1000,     /* when the host waits for an answer */
  SURVEY_INTERVAL_US = 5 * 1000, /* between looks at how far a survey is: guests grow meanwhile */
};

/* So long and no longer may a look take; whoever walks through processes asks between them. */
void begin_look(uint64_t most_us);
bool look_is_over(void);

#endif
