/*
 * The ends of guests, and what is reported about them.
 */
#ifndef LAZARET_ENDS_H
#define LAZARET_ENDS_H
#include "spawns.h"

void reap(void);
bool finish_spawn(struct spawn *spawn, uint8_t exit_code);
void advance(struct spawn *spawn);

#endif
