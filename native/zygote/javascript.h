/*
 * A zygote of an engine for JavaScript, as the engine calls it. All but `engine_serve` and what comes before it is for its
 * forks.
 */
#ifndef LAZARET_JAVASCRIPT_H
#define LAZARET_JAVASCRIPT_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* Empty when it can be forked from now on, else why it cannot: its other threads stay where they are, and it has to end. */
EXPORTED const char *engine_prepare(void);

EXPORTED int engine_serve(int socket_fd);

/* Whether its guest is to find other variables than the zygote was started with; asking for each takes a while. */
EXPORTED bool engine_has_new_variables(void);

/* NULL behind the last one. */
EXPORTED const char *engine_variable(int index);

EXPORTED int engine_process_id(void);

/*
 * Short runs end before the threads are back, and need none. By a signal, because the main thread may be waiting for one
 * of them by then. 0, or an errno. A delay of 0 is a rehearsal.
 */
EXPORTED int engine_revive_after(int delay_ms);

/* Returns one end of a socket pair. Until it is closed, runs read from and write to the other end. -1 on failure. */
EXPORTED int engine_open_stage(void);
EXPORTED bool engine_close_stage(int other_end);

#endif
