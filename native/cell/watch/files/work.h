/*
 * The run's folder on the host: over its limit, full, and removed.
 */
#ifndef LAZARET_WORK_H
#define LAZARET_WORK_H
#include "frames.h"

enum { WORK_FOLDERS = 2 };

extern const char *const work_folders[WORK_FOLDERS];

void step_remove(struct reader *record);
uint64_t work_bytes_over(void); /* how much is in it, if that is over its limit, else 0 */
bool work_is_full(void);
void remove_work(void);

#endif
