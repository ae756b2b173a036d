/*
 * What happens to the processes that were started, until their ends (ends.h).
 */
#ifndef LAZARET_GUESTS_H
#define LAZARET_GUESTS_H
#include "spawns.h"

void announce(struct spawn *spawn);
void read_exec_report(struct spawn *spawn);
void read_output(struct spawn *spawn, int stream);
void note_channel(struct spawn *spawn);
void forget_channel_note(struct spawn *spawn);
void close_channel(struct spawn *spawn);
void close_and_forget(int *fd);
void close_inlets(struct spawn *spawn);

#endif
