/*
 * Begins the run of a guest that was started ahead.
 */
#ifndef LAZARET_BEGIN_H
#define LAZARET_BEGIN_H
#include "frames.h"
#include "spawns.h"

/* From a BEGIN frame. False when it is malformed; a failed step ends the cell, because nothing may run in it then. */
bool begin_spawn(struct spawn *spawn, struct reader *request);

#endif
