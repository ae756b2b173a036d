/*
 * What the steps of a plan share: a payload that is read to its end, and descriptors that one step keeps for another.
 */
#ifndef LAZARET_RECORD_H
#define LAZARET_RECORD_H
#include "cell.h"

void require_whole(const struct reader *record); /* or fails: a payload with missing or extra bytes is not applied */
void keep_in_slot(uint32_t slot, int fd);
int take_from_slot(uint32_t slot);

#endif
