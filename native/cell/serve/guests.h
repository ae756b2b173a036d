/*
 * What happens to the processes that were started: their streams and their ends.
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
void reap(void);
bool finish_spawn(struct spawn *spawn, uint8_t exit_code);
void advance(struct spawn *spawn);

#endif
