/*
 * The way out of a cell with a network policy: sockets of its own namespace, which the relay serves from outside.
 */
#ifndef LAZARET_DOOR_H
#define LAZARET_DOOR_H
#include "frames.h"

void step_reach_relay(struct reader *record);
void step_door(struct reader *record);

#endif
