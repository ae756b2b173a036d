/*
 * Pid 1 while it serves: what it has started, and what it still has to do for the host (serve.c, requests.c).
 */
#ifndef LAZARET_SERVICE_H
#define LAZARET_SERVICE_H

#include "cell.h"

struct service {
  struct spawn spawns[SPAWNS_MAX];
  bool announces_alone;   /* when the last guest is gone */
  bool kills_after_flush; /* everything, once the host has been told */
  bool kills_late_forks;
};
extern struct service service;

void handle_frame(struct frame frame, struct reader payload);
_Noreturn void end_malformed(void);
_Noreturn void leave(void);
void tell_stdin_taken(const struct spawn *spawn, uint32_t taken);
/* Output that nobody wants any more. Takes the descriptor. */
void drain_on(int fd);
int drains_fd(void);      /* for poll: -1 when there is nothing to read now */
int drains_wait_ms(void); /* for poll: -1 when nothing rests */
void drain_some(void);

bool awaits_fork(void); /* of the zygote: asked for, and not ours yet */

#endif
