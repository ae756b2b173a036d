/*
 * Dear looks, by a process of their own (survey.c), and what they share with the quick ones.
 */
#ifndef LAZARET_SURVEY_H
#define LAZARET_SURVEY_H

#include "cell.h"

/* Each by a process of its own, so that neither waits for the other. */
enum survey_of {
  SURVEY_OF_PROCESSES, /* their pages, with those that forked processes share counted once, and their mappings */
  SURVEY_OF_LOCKS,
  SURVEY_OF_WATCHES,
  SURVEYS,
};

struct survey {
  enum { SURVEY_NONE, SURVEY_RUNS, SURVEY_DONE, SURVEY_FAILED } state;
  uint64_t page_bytes; /* where it stopped early: so much and perhaps more */
  uint64_t mapping_bytes;
  uint64_t locks; /* likewise; 0 also stands for so few that nobody has counted them */
  uint64_t watches;
};

/* Unless one is under way, or only just over. Of processes: where it may stop because that is more than enough. */
void start_survey(enum survey_of of, uint64_t enough_bytes);
bool survey_is_under_way(enum survey_of of);
struct survey hear_survey(enum survey_of of); /* a survey that is over is told once */
bool is_surveyor(long pid);
void survey_reaped(pid_t pid, const struct rusage *usage);
uint64_t surveyors_us(void); /* processor time that is ours, not the guests' */

size_t read_text(const char *path, char *text, size_t size);
uint64_t field_bytes(const char *text, const char *name);
uint64_t private_bytes(const char *pid);
uint64_t lock_bytes_over(bool watches_too); /* 0 when there are not too many */
/* By the surveyor; with the processes of a cell whose list shows those of others too. */
uint64_t count_locks(int fd, const long *pids, size_t count);
void count_watches(int fd, const long *pids, size_t count, struct survey *survey);
uint64_t watch_bytes_over(const struct survey *survey);
bool is_own_task(long pid); /* a child of ours that nobody may look into, and that no guest can steer */
bool is_hidden(const char *folder, const char *name); /* of a process or thread that is there, but nobody may look into */
uint64_t count_lines(const char *path, uint64_t most);
uint64_t count_of_threads(const char *pid, uint64_t (*count)(const char *folder, uint64_t most), uint64_t most);

enum {
  LOOK_US = 5 * 1000,     /* when the host waits for an answer */
  SURVEY_INTERVAL_US = 5 * 1000, /* between looks at how far a survey is: guests grow meanwhile */
};

/* So long and no longer may a look take; whoever walks through processes asks between them. */
void begin_look(uint64_t most_us);
bool look_is_over(void);

#endif
