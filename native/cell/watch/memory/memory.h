/*
 * Memory and disk of the whole cell, if no cgroup counts them.
 */
#ifndef LAZARET_MEMORY_H
#define LAZARET_MEMORY_H
#include <stdbool.h>
#include <stdint.h>

uint64_t memory_bytes(uint64_t limit); /* above the limit only if a survey confirms it or fails; for 0 the quick sum */
uint64_t memory_peak_bytes(void);
bool disk_is_full(void);

#endif
