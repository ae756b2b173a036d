/*
 * Lists the cell's processes: everything that runs in it, except pid 1 or the warden.
 */
#ifndef LAZARET_PROCESSES_H
#define LAZARET_PROCESSES_H
#include <stdbool.h>
#include <stddef.h>

enum { PROCESSES_MAX = 4096 }; /* in one scan of the watchdog */

/* In ascending order. */
size_t list_processes(long *pids, size_t most);
bool list_was_cut(void); /* whether there may be more than the last list had room for */
size_t list_descendants_of(long root, long *pids, size_t most); /* parents before children */
int compare_pids(const void *one, const void *other); /* for qsort */
size_t count_tasks(void); /* processes and threads, including zombies */

#endif
