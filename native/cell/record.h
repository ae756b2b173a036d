/*
 * What the steps of a plan share: a payload that is read to its end, descriptors that one step keeps for another, and
 * paths without links.
 */
#ifndef LAZARET_RECORD_H
#define LAZARET_RECORD_H
#include "cell.h"

void require_whole(const struct reader *record); /* or fails: a payload with missing or extra bytes is not applied */
void keep_in_slot(uint32_t slot, int fd);
int take_from_slot(uint32_t slot);

/*
 * Looks up a path of the host in which the host process has resolved every link. Others may have replaced a part of it by
 * a link since then, so none is followed: -1 with ELOOP.
 */
int find_real_path(const char *path);

#endif
