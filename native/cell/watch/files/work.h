/*
 * The run's folder on the host: whether it exceeds its limit, whether it is full, and its removal.
 */
#ifndef LAZARET_WORK_H
#define LAZARET_WORK_H
#include "frames.h"

enum { WORK_FOLDERS = 2 };

extern const char *const work_folders[WORK_FOLDERS];

void step_remove(struct reader *record);
uint64_t work_bytes_over(void); /* its size if it exceeds the limit, else 0 */
bool work_is_full(void);
void remove_work(void);

#endif
