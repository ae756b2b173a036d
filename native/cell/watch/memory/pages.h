/*
 * Memory of single processes: a quick look at each, and a survey of all.
 */
#ifndef LAZARET_PAGES_H
#define LAZARET_PAGES_H
#include <stdint.h>

uint64_t private_bytes(const char *pid); /* never below what it uses but for mappings */
/* Pages, with those that forked processes share counted once, and mappings; it may stop where that is more than enough. */
void survey_pages(uint64_t enough_bytes);

#endif
