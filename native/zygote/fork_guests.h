/*
 * How a zygote of any engine forks guests.
 */
#ifndef LAZARET_FORK_GUESTS_H
#define LAZARET_FORK_GUESTS_H

#include <stdbool.h>
#include <sys/types.h>

/* An engine's hooks around a fork. */
struct engine {
  void (*before)(void);          /* in the zygote */
  void (*after)(void);           /* in the zygote, when the guest has been forked */
  pid_t (*fork)(void);           /* in a process that comes from vfork */
  const char *(*go_on)(void);    /* in the confined guest. NULL, or the step that failed, with errno set */
};

/*
 * Returns 0 in each guest, with its descriptors placed and itself confined; 1 when no more requests can come; else -1.
 */
int fork_guests(int socket_fd, const struct engine *engine);

/* In a guest: the environment that the space's pid 1 sent, `NAME=value` each, NULL last. */
char *const *given_environment(void);

/* In a guest: whether it differs from the zygote's environment. False in a sample run, which is sent none. */
bool is_environment_new(void);

#endif
