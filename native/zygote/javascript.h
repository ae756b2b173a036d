/*
 * The functions of the zygote that a JavaScript engine calls. Those after `engine_serve` are called in its forks.
 */
#ifndef LAZARET_JAVASCRIPT_H
#define LAZARET_JAVASCRIPT_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* Empty if this process can be forked from now on, else the reason why not. Then it has to end: its threads stay parked. */
EXPORTED const char *engine_prepare(void);

EXPORTED int engine_serve(int socket_fd);

/* Whether the guest's environment differs from the zygote's; asking for each variable is slow. */
EXPORTED bool engine_has_new_variables(void);

/* NULL after the last one. */
EXPORTED const char *engine_variable(int index);

EXPORTED int engine_process_id(void);

/*
 * Recreates the threads after a delay, because short runs end without needing them. It uses a signal, because by then the
 * main thread may be waiting for one of them. Returns 0 or an errno. A delay of 0 is for a sample run.
 */
EXPORTED int engine_revive_after(int delay_ms);

/* Returns one end of a socket pair. Until it is closed, runs read from and write to the other end. -1 on failure. */
EXPORTED int engine_open_sample_channel(void);
EXPORTED bool engine_close_sample_channel(int other_end);

#endif
