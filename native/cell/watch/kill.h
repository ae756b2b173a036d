/*
 * Kills every guest, one guest and what it has started, or the whole cell, and nothing else.
 */
#ifndef LAZARET_KILL_H
#define LAZARET_KILL_H
#include <stdbool.h>
#include <sys/types.h>

bool reaches_strangers(void); /* whether kill(-1) would end unrelated processes */
void kill_guests(void); /* whatever they have started */
bool reap_helper(pid_t pid); /* whether a helper that guests may stop has done its work */
bool end_guests_by_uid(void); /* false when it could not be done safely */
void end_everything(int pidfd); /* for the stub: pid 1 or the warden, and all below it */
_Noreturn void leave(void); /* the end of pid 1 or the warden, and of its guests */

#endif
