/*
 * Bytes of the host on their way to a guest, by its standard input or its channel.
 */
#ifndef LAZARET_INLETS_H
#define LAZARET_INLETS_H
#include "frames.h"

enum { INLET_BYTES = 64 << 10 }; /* what waits for the guest to read: the host's credit */

struct inlet {
  int fd;             /* -1 when closed */
  uint8_t taken_type; /* of the frame that gives credit back */
  uint8_t *bytes;     /* a ring */
  size_t from, count;
  size_t untold;      /* credit that the host has not heard of yet */
  bool ended;         /* nothing follows what waits */
};

bool inlet_add(struct inlet *inlet, uint32_t id, struct reader *bytes); /* false when the host had no credit for them */
void inlet_advance(struct inlet *inlet, uint32_t id);
void inlet_close(struct inlet *inlet);

#endif
