/*
 * A folder of the host as the workspace of a sandbox.
 */
#ifndef LAZARET_WORKSPACE_H
#define LAZARET_WORKSPACE_H
#include "frames.h"

void step_open_workspace(struct reader *record);

#endif
