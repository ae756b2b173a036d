/*
 * Memory that forks of an engine do not inherit, such as JavaScriptCore's compiled code.
 */
#ifndef LAZARET_MEMORY_OF_FORKS_H
#define LAZARET_MEMORY_OF_FORKS_H

#include <stdbool.h>

/* In the zygote: from now on forks inherit it. False with errno set if they do not inherit all of it. */
bool let_memory_be_forked(void);

#endif
