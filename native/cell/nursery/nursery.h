/*
 * The nursery: forks launchers for its host, or for a family of spaces.
 */
#ifndef LAZARET_NURSERY_H
#define LAZARET_NURSERY_H
#include <stdint.h>

/* Both return in each child that is to become a launcher, with the report and control sockets and the channel placed. */
void run_nursery(uint32_t name_bytes);
void run_family(int listening_fd, const uint8_t *secret, int zygote_fd);

#endif
