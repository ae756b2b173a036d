/*
 * Ids and capabilities of pid 1 and of guests.
 */
#ifndef LAZARET_IDS_H
#define LAZARET_IDS_H
#include "frames.h"

#include <sys/types.h>

void step_id_maps(struct reader *record);
void step_become(struct reader *record);
void step_set_ids(struct reader *record);
void step_guest_ids(struct reader *record);
void step_keep_capabilities(struct reader *record);

void write_id_maps(pid_t pid);
void reduce_capabilities(uint64_t kept);
bool raise_ambient_capabilities(uint64_t mask); /* drops all others; execve keeps these, whatever the uid */

/* Called in a forked child that will become a guest. They return false with errno set. */
bool drop_to_guest_ids(void);
bool drop_capabilities(void);

#endif
