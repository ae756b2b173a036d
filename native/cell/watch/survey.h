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
  uint64_t page_bytes; /* a lower bound if the survey stopped early */
  uint64_t mapping_bytes;
  uint64_t locks; /* likewise; 0 also means too few to be counted */
  uint64_t watches;
};

/* Whether the next one may start: no survey is running, and the last one is not too recent. */
bool survey_is_due(enum survey_of of);
/*
 * `look` runs in the surveyor, which has pid 1's memory and the given descriptor, if any, and nothing else of pid 1's. If
 * guests have used up the limit on processes, there is no room for a surveyor, and pid 1 runs `look` itself.
 */
typedef void survey_look(struct survey *survey, int given_fd);
void start_survey(enum survey_of of, survey_look *look, int given_fd);
uint32_t surveyors_refused(void); /* forks that a limit on processes refused to pid 1, not to a guest */
bool tell_survey(const struct survey *survey); /* reports progress after each process; false if pid 1 no longer listens */
bool survey_is_under_way(enum survey_of of);
struct survey take_survey(enum survey_of of); /* a finished survey is reported once */
bool is_surveyor(long pid);
void survey_reaped(pid_t pid, const struct rusage *usage);
uint64_t surveyors_us(void); /* processor time of surveyors, which does not count as the guests' */

#endif
