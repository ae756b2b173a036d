/*
 * Looks at the cell's processes: how often there is one, and how long it may take.
 */
#ifndef LAZARET_LOOK_H
#define LAZARET_LOOK_H
#include <stdbool.h>
#include <stdint.h>

enum {
  WATCHDOG_INTERVAL_MS = 20,     /* a guest grows 30 to 60 MiB meanwhile */
  LOOK_US = 5 * 1000,            /* when the host waits for an answer */
  SURVEY_INTERVAL_US = 5 * 1000, /* between looks at how far a survey is: guests grow meanwhile */
};

/* So long and no longer may a look take; whoever walks through processes asks between them. */
void begin_look(uint64_t most_us);
void begin_look_until(uint64_t moment_us);
bool look_is_over(void);

#endif
