/*
 * Connections of launchers: over one, a cell's pid 1 hands over the sockets that it has made in its namespace.
 */
#ifndef LAZARET_LINES_H
#define LAZARET_LINES_H
#include "relay.h"

void open_lines(const uint8_t *name, uint32_t name_bytes, const uint8_t *secret);
void accept_lines(void);
void hear_line(uint32_t index);

#endif
