/*
 * Scans ("looks") of the cell's processes: how often they run, and how long they may take.
 */
#ifndef LAZARET_LOOK_H
#define LAZARET_LOOK_H
#include <stdbool.h>
#include <stdint.h>

enum {
  WATCHDOG_INTERVAL_MS = 20,     /* in this time a guest can grow by 30 to 60 MiB */
  LOOK_US = 5 * 1000,            /* when the host waits for an answer */
  SURVEY_INTERVAL_US = 5 * 1000, /* between checks of the progress of a survey, because guests grow */
};

/* Bounds the time of a scan. Code that walks through processes checks the bound between them. */
void begin_look(uint64_t most_us);
void begin_look_until(uint64_t moment_us);
bool look_is_over(void);

#endif
