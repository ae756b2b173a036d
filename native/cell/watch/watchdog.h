/*
 * The watchdog: the limits that pid 1 enforces.
 */
#ifndef LAZARET_WATCHDOG_H
#define LAZARET_WATCHDOG_H
#include <stdbool.h>
#include <stdint.h>

/* Zero means no limit, or that a better mechanism enforces it. */
struct watched {
  uint64_t memory_bytes;
  uint64_t cpu_us;
  uint64_t wall_us;
  uint64_t socket_bytes; /* in sockets that no cgroup charges, from a budget of the whole machine */
  uint64_t files_max;    /* open in all processes together */
  uint64_t tasks_max;    /* processes and threads, if the kernel has no limit for this cell alone */
};

void watch(struct watched limits);
int watchdog_wait_ms(void); /* for poll: -1 when nothing is watched */
void watchdog_look(void);   /* runs when due; ends the guests and reports if a limit is exceeded */
void report_usage(void);    /* reports to the host what this program counts */
bool watchdog_counts(void); /* this program counts memory and processor time */

#endif
