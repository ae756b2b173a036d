/*
 * Memory that an engine keeps from its children: JavaScriptCore its compiled code.
 */
#ifndef LAZARET_MEMORY_OF_FORKS_H
#define LAZARET_MEMORY_OF_FORKS_H

#include <stdbool.h>

/* In the zygote: from now on forks have it. False with errno set when some stays out of them. */
bool let_memory_be_forked(void);

#endif
