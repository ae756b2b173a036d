/*
 * The other threads of an engine that is forked. A fork has the calling thread alone; so before the first fork every
 * other thread is parked, and a fork recreates them at the same addresses: same stack, same registers, same
 * thread-local data.
 */
#ifndef LAZARET_THREADS_H
#define LAZARET_THREADS_H

#include <stdbool.h>

/*
 * In the zygote. `idle` names the threads that wait for work and hold nothing until it comes, NULL last: others are
 * given a while to end. How many are parked now, or -1 with errno set: a thread of another kind remains, one is never
 * idle, or there are too many.
 */
int park_threads(const char *const idle[]);

/* After EEXIST: the name of a thread of another kind. */
const char *thread_in_the_way(void);

/* In a fork: those that were parked, as far as they are not there yet. False when the kernel refuses one for now. */
bool revive_threads(void);

#endif
