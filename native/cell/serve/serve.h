/*
 * Pid 1 while it serves: one poll loop.
 */
#ifndef LAZARET_SERVE_H
#define LAZARET_SERVE_H
#include "frames.h"

void step_serve(struct reader *record);

#endif
