/*
 * Processor time of the whole cell, if no cgroup counts it.
 */
#ifndef LAZARET_PROCESSOR_H
#define LAZARET_PROCESSOR_H
#include <stdint.h>
#include <sys/types.h>

uint64_t processor_us(void); /* of everything that ran in the cell, except pid 1, since the last call of the next function */
void forget_processor_time(void);
uint64_t processor_us_of(pid_t pid); /* one process alone */

#endif
