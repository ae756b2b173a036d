/*
 * Connections: of each, the guest's end (inner) and, once the host has named an address, ours to it (outer).
 */
#ifndef LAZARET_CONNECTIONS_H
#define LAZARET_CONNECTIONS_H
#include "doors.h"
#include "relay.h"

struct destination {
  uint32_t port;
  const uint8_t *address;
  uint32_t address_bytes; /* 4 or 16 */
  const uint8_t *preface; /* sent before the guest's own bytes */
  uint32_t preface_bytes;
};

/* Asks the host where it leads. False: there is no room; `inner` is the caller's. */
bool add_connection(int inner, uint32_t door, uint32_t door_id, struct budget *budget);
void connect_connection(uint32_t id, const struct destination *to);
void refuse_connection(uint32_t id);
void close_connections_of(uint32_t door);

void handle_side(uint32_t index, uint32_t events, bool is_inner);
/* Connections that have more to move than one round allows. */
bool has_ready_connections(void);
void go_on_with_connections(void);
void forget_closed(void);

void reset_and_close(int fd); /* the other side notices it at once */

#endif
