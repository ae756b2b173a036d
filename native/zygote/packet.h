/*
 * What a space's pid 1 asks of the zygote for one guest (serve/forks.c of native/cell): a packet with descriptors.
 */
#ifndef LAZARET_PACKET_H
#define LAZARET_PACKET_H

#include "serve/forks.h"
#include "serve/guest.h"

/* One guest to be made, with the descriptors of its packet. */
struct birth {
  uint64_t namespaces;
  uint32_t joins;
  int guest_fds[GUEST_FDS];
  struct program program;
  int fds[FORK_FDS_MAX];
  size_t fd_count;
};

enum taken { TAKEN, REFUSED, ENDED, BROKEN };

/* Waits for the next packet. The strings of its program stay in a buffer of this file. */
enum taken take_packet(struct birth *birth, int socket_fd);

/* In the zygote, when its guest is born: nothing of a request stays behind for the next one to read. */
void forget_packet(struct birth *birth);

#endif
