/*
 * The watchdog: the limits that pid 1 enforces.
 */
#ifndef LAZARET_WATCHDOG_H
#define LAZARET_WATCHDOG_H
#include <stdbool.h>
#include <stdint.h>

/* Zero means none, or enforced by something better. */
struct watched {
  uint64_t memory_bytes;
  uint64_t cpu_us;
  uint64_t wall_us;
  uint64_t socket_bytes; /* in sockets that no cgroup charges, out of what the whole machine has for them */
  uint64_t files_max;    /* open in all processes together */
  uint64_t tasks_max;    /* processes and threads, where no limit of the kernel's is the cell's own */
};

void watch(struct watched limits);
int watchdog_wait_ms(void); /* for poll: -1 when nothing is watched */
void watchdog_look(void);   /* when it is due; ends the guests and reports when a limit is passed */
void report_usage(void);    /* to the host, where this program counts */
bool watchdog_counts(void); /* memory and processor time are this program's to count */

#endif
