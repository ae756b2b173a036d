/*
 * Cgroups: their files are opened with the necessary rights, and written to after every change of ids.
 */
#ifndef LAZARET_CGROUPS_H
#define LAZARET_CGROUPS_H
#include "frames.h"

void step_open_write(struct reader *record);
void step_join(struct reader *record);
/* For spaces, whose view of files does not show their cgroups. */
void step_open_folder(struct reader *record);
void step_open_at(struct reader *record);
void step_guest_join(struct reader *record);
/* For cached pages, which are charged to a cgroup, too. */
void step_read_ahead(struct reader *record);

#endif
