/*
 * Launchers that the nursery has forked and nobody has reaped.
 */
#ifndef LAZARET_LAUNCHERS_H
#define LAZARET_LAUNCHERS_H
#include <stdbool.h>
#include <stdint.h>

void tell_host(uint8_t type, uint32_t id); /* ends this process when the host is gone */
bool try_to_launch(uint32_t id, bool has_channel); /* true in the child; false until all its sockets are there */
void reap_launchers(void);
void kill_launcher(uint32_t id);
void forget_launchers(void);

#endif
