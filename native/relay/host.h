/*
 * Frames from and to the host.
 */
#ifndef LAZARET_HOST_H
#define LAZARET_HOST_H
#include "relay.h"

#include <stddef.h>

void open_host(void);
void handle_host(uint32_t events);
void flush_host(void);
bool host_keeps_up(void); /* there is room for more than the reports that open connections still need */

/* Queues a frame. What is owed for open connections always has room; new work is taken only while the host keeps up. */
void tell(enum relay_frame type, uint32_t id, const uint8_t *payload, size_t length);

#endif
