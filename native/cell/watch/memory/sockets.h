/*
 * Kernel memory of the bytes in sockets.
 */
#ifndef LAZARET_SOCKETS_H
#define LAZARET_SOCKETS_H
#include <stdbool.h>
#include <stdint.h>

struct socket_memory {
  uint64_t bytes;
  uint64_t at_most_more; /* an upper bound on what closed senders may have left */
  uint64_t from_machine; /* netlink, TCP and UDP, which share one budget of the machine */
};
struct socket_memory socket_memory(bool unix_too); /* bytes in sockets; 0 if the host's sockets would be included */

#endif
