/*
 * Memory of the kernel that waits in sockets.
 */
#ifndef LAZARET_SOCKETS_H
#define LAZARET_SOCKETS_H
#include <stdbool.h>
#include <stdint.h>

struct socket_memory {
  uint64_t bytes;
  uint64_t at_most_more; /* what senders that are gone may have left besides */
  uint64_t from_machine; /* netlink, TCP and UDP: of these the machine has so much for all together */
};
struct socket_memory socket_memory(bool unix_too); /* bytes in sockets; 0 where the host's are among them */

#endif
