/*
 * How many processes and threads the kernel counts for this user.
 */
#ifndef LAZARET_TASK_COUNT_H
#define LAZARET_TASK_COUNT_H
#include <stdint.h>

uint32_t tasks_besides_guests(void);

#endif
