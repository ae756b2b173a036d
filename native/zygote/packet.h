/*
 * The packet with which a space's pid 1 requests one guest from the zygote (serve/forks.c of native/cell), with descriptors.
 */
#ifndef LAZARET_PACKET_H
#define LAZARET_PACKET_H

#include "serve/forks.h"
#include "serve/guest.h"

/* A request for one guest, with the descriptors of its packet. */
struct fork_request {
  uint64_t namespaces;
  uint32_t joins;
  int guest_fds[GUEST_FDS];
  struct program program;
  int fds[FORK_FDS_MAX];
  size_t fd_count;
};

enum taken { TAKEN, REFUSED, ENDED, BROKEN };

/* Waits for the next packet. The strings of its program stay in a buffer of this file. */
enum taken take_packet(struct fork_request *request, int socket_fd);

/* In the zygote, after its guest has been forked: removes the request, so that later guests cannot read it. */
void forget_packet(struct fork_request *request);

#endif
