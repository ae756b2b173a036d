/*
 * Surveys: expensive measurements, each in its own process, so that none waits for another.
 */
#ifndef LAZARET_SURVEY_H
#define LAZARET_SURVEY_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum survey_of { SURVEY_OF_PROCESSES, SURVEY_OF_LOCKS, SURVEY_OF_WATCHES, SURVEYS };

struct survey {
  enum { SURVEY_NONE, SURVEY_RUNS, SURVEY_DONE, SURVEY_FAILED } state;
  uint64_t page_bytes; /* where it stopped early: so much and perhaps more */
  uint64_t mapping_bytes;
  uint64_t locks; /* likewise; 0 also means too few to be counted */
  uint64_t watches;
};

/* Whether the next one may start: none is under way, or only just over. */
bool survey_is_due(enum survey_of of);
/*
 * `look` runs in the surveyor, with nothing of pid 1's but its memory and, if there is one, the descriptor given.
 * Guests at their limit on processes leave no room for a surveyor: then pid 1 itself looks.
 */
typedef void survey_look(struct survey *survey, int given_fd);
void start_survey(enum survey_of of, survey_look *look, int given_fd);
uint32_t surveyors_refused(void); /* forks that a limit on processes refused to pid 1, not to a guest */
bool tell_survey(const struct survey *survey); /* how far it is, after each process; false when nobody listens */
bool survey_is_under_way(enum survey_of of);
struct survey hear_survey(enum survey_of of); /* a finished survey is reported once */
bool is_surveyor(long pid);
void survey_reaped(pid_t pid, const struct rusage *usage);
uint64_t surveyors_us(void); /* processor time that is ours, not the guests' */

#endif
