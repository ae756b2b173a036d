/*
 * The host's requests to pid 1, and the answers that pid 1 still owes.
 */
#ifndef LAZARET_REQUESTS_H
#define LAZARET_REQUESTS_H
#include "frames.h"

struct owed {
  bool announces_alone;   /* when the last guest is gone */
  bool kills_after_flush; /* everything, once the host has been told */
  bool kills_late_forks;
};
extern struct owed owed;

void handle_frame(struct frame frame, struct reader payload);
_Noreturn void end_malformed(void);

#endif
