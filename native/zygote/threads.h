/*
 * The other threads of an engine that is forked. A fork has only the calling thread; so before the first fork every
 * other thread is parked, and a fork recreates them at the same addresses: same stack, same registers, same
 * thread-local data.
 */
#ifndef LAZARET_THREADS_H
#define LAZARET_THREADS_H

#include <stdbool.h>

/*
 * In the zygote. `idle` names the threads that wait for work and hold no lock meanwhile, NULL last. Others get some
 * time to end. Returns how many are parked, or -1 with errno set: a thread of another kind remains, one is never idle,
 * or there are too many.
 */
int park_threads(const char *const idle[]);

/* After EEXIST: the name of the thread of another kind. */
const char *thread_in_the_way(void);

/* In a fork: recreates the parked threads that are still missing. False if the kernel refuses one for now. */
bool revive_threads(void);

#endif
