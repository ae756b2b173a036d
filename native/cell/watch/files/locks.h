/*
 * Locks on files, and when they and the watches are counted.
 */
#ifndef LAZARET_LOCKS_H
#define LAZARET_LOCKS_H
#include "frames.h"

void step_count_locks(struct reader *record);
uint64_t lock_bytes_over(bool watches_too); /* 0 when there are not too many */

#endif
