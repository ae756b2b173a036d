/*
 * Facts: what the kernel says about this cell.
 */
#ifndef LAZARET_FACTS_H
#define LAZARET_FACTS_H
#include <stddef.h>

size_t collect_facts(char *text, size_t size);

#endif
