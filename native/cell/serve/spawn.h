/*
 * Starting a guest, as a SPAWN frame says.
 */
#ifndef LAZARET_SPAWN_H
#define LAZARET_SPAWN_H
#include "frames.h"
#include "spawns.h"

/* Starts a process from a SPAWN frame. False when the frame is malformed; a failed step is reported as a fault. */
bool start_spawn(struct spawn *spawn, struct reader *request);

#endif
