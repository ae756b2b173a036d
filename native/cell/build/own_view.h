/*
 * A view of files through inodes of the cell's own.
 */
#ifndef LAZARET_OWN_VIEW_H
#define LAZARET_OWN_VIEW_H
#include "frames.h"

void step_open_lower(struct reader *record);
void step_own_view(struct reader *record);
void step_bind_own(struct reader *record);

/* Closes what `step_bind_own` keeps open. No guest may inherit it. */
void leave_view(void);

#endif
