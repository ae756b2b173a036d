/*
 * Guests that fork themselves when the host asks for it: a code context and its forks.
 */
#ifndef LAZARET_SPLITS_H
#define LAZARET_SPLITS_H
#include "serve/guest.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Sends a spawn the descriptors of its fork. NULL, or the name of the step that failed, with errno set. */
const char *ask_for_split(uint32_t origin, const int guest_fds[GUEST_FDS]);

bool has_splits(void);            /* whether a guest of this cell was asked to fork */
bool may_be_split(pid_t pid);     /* checks the pid that a guest reports for its fork */
void note_split_end(void);        /* a spawn has ended */
void sweep_after_splits(void);    /* ends the processes that it left behind, while others continue */

#endif
