/*
 * Memory of single processes: a quick sum for each, and a survey of all.
 */
#ifndef LAZARET_PAGES_H
#define LAZARET_PAGES_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t private_bytes(const char *pid); /* never too low, apart from mappings */
bool has_no_memory(pid_t pid); /* because it is exiting */
/* Counts mappings, and pages, with shared pages counted once. It may stop once the total is more than `enough`. */
void survey_pages(uint64_t enough_bytes);

#endif
