/*
 * Bytes of the host on their way to a guest, by its standard input or its channel.
 */
#ifndef LAZARET_INLETS_H
#define LAZARET_INLETS_H
#include "frames.h"
#include "spawns.h"

bool inlet_add(struct inlet *inlet, uint32_t id, struct reader *bytes); /* false when the host had no credit for them */
void inlet_advance(struct inlet *inlet, uint32_t id);
void inlet_close(struct inlet *inlet);

#endif
