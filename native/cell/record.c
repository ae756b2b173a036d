/*
 * What the steps of a plan share: a payload that is read to its end, and the slots, in which one step keeps descriptors
 * for another.
 */
#include "record.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>

void require_whole(const struct reader *record) {
  errno = EPROTO;
  if (!reader_done(record)) fail("parse a record's payload");
}

void keep_in_slot(uint32_t slot, int fd) {
  errno = EPROTO;
  if (slot >= SLOTS_MAX || cell.slots[slot] != 0) fail("fill a slot");
  cell.slots[slot] = fd;
}

int take_from_slot(uint32_t slot) {
  errno = EPROTO;
  if (slot >= SLOTS_MAX || cell.slots[slot] == 0) fail("empty a slot");
  int fd = cell.slots[slot];
  cell.slots[slot] = 0;
  return fd;
}
