/*
 * The functions of the zygote that a JavaScript engine calls. Those after `engine_serve` are called in its forks, where a
 * timer is armed whenever code of the engine runs: see javascript.c.
 */
#ifndef LAZARET_JAVASCRIPT_H
#define LAZARET_JAVASCRIPT_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/*
 * Parks the other threads, tells the host that this process can be forked, and returns an empty text in each fork. No
 * code of the engine runs meanwhile, because it could wait for a parked thread. Returns the reason if the process cannot
 * be forked; then it has to end, because its threads stay parked. Ends the zygote when no more requests can come.
 */
EXPORTED const char *engine_serve(int socket_fd);

/* Whether the guest's environment differs from the zygote's; asking for each variable is slow. */
EXPORTED bool engine_has_new_variables(void);

/* NULL after the last one. */
EXPORTED const char *engine_variable(int index);

EXPORTED int engine_process_id(void);

/* In a fork that is ready for its run: waits for the request. In a sample run it does nothing. */
EXPORTED void engine_await_request(void);

/* Returns one end of a socket pair. Until it is closed, runs read from and write to the other end. -1 on failure. */
EXPORTED int engine_open_sample_channel(void);
EXPORTED bool engine_close_sample_channel(int other_end);

#endif
