/*
 * Connections of launchers. Over such a connection, a cell's pid 1 sends the sockets that it has opened in its namespace.
 */
#ifndef LAZARET_CLIENTS_H
#define LAZARET_CLIENTS_H
#include "relay.h"

void listen_for_clients(const uint8_t *name, uint32_t name_bytes, const uint8_t *secret);
void accept_client(void);
void handle_client(uint32_t index);

#endif
