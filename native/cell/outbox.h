/*
 * The outbox: frames on their way to the host.
 */
#ifndef LAZARET_OUTBOX_H
#define LAZARET_OUTBOX_H
#include "frames.h"

#include <sys/types.h>

enum {
  OUTPUT_CHUNK_BYTES = 64 << 10, /* the capacity of a pipe */
  OUTBOX_BYTES = 1 << 20,        /* frames that wait for the host to read; guests wait when it is full */
};

bool outbox_has_room(void);
bool outbox_is_empty(void);
void outbox_add(struct frame frame, const void *payload);
ssize_t outbox_add_output(uint32_t id, uint8_t stream, int fd, size_t most, bool keep);
bool outbox_flush(void); /* false when the host is gone */
void outbox_fault(uint32_t id, int error, const char *what);

#endif
