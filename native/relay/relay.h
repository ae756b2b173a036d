/*
 * The relay's protocol: frame types, limits, and the kinds of descriptors in the epoll set.
 * src/jail/edge/relay-frames.ts has the same numbers; a test compares the two.
 */
#ifndef LAZARET_RELAY_H
#define LAZARET_RELAY_H
#include "frames.h"

#include <stdbool.h>
#include <stdint.h>

/* Frames are framed as the launcher's are (frames.h). */
enum relay_frame {
  /* host to relay */
  RELAY_OPEN = 1,    /* bytes name, bytes secret: where launchers find the relay, and what they have to know */
  RELAY_ADMIT = 2,   /* id of a door: bytes token, u32 budget, u32 connections at one time, u64 bytes left */
  RELAY_DROP = 3,    /* id of a door: it and all its connections end now */
  RELAY_CONNECT = 4, /* id of a connection: u32 port, bytes address (4 or 16), bytes to send there first */
  RELAY_REFUSE = 5,  /* id of a connection */
  RELAY_ANSWER = 6,  /* id of a door: u32 question, bytes answer; no bytes: none */
  /* relay to host */
  RELAY_READY = 64,
  RELAY_QUESTION = 65,  /* id of a door: u32 question, bytes datagram */
  RELAY_ARRIVED = 66,   /* id of a connection: u32 door, u32 port, bytes address: what the guest connected to */
  RELAY_CONNECTED = 67, /* id of a connection */
  RELAY_CLOSED = 68,    /* id of a connection: u32 errno, u32 why, u64 bytes sent, u64 bytes received */
  RELAY_FAILED = 70,    /* id of a connection: u32 errno; the host names another address, or refuses it */
  RELAY_DROPPED = 69,   /* id of a door: u32 connections that were over the limit */
};

/* Why a connection was closed. */
enum why { WHY_ENDED = 0, WHY_FAILED = 1, WHY_BYTES = 2, WHY_DROPPED = 3 };

enum {
  SECRET_BYTES = 32,
  TOKEN_BYTES = 16,
  PREFACE_BYTES_MAX = 32,
  NAME_BYTES_MAX = 100,
  DOORS_MAX = 4096,       /* cells and spaces with a policy at one time */
  LISTENERS_MAX = 128,    /* ports of a door; SCM_RIGHTS carries at most 253 descriptors */
  CLIENTS_MAX = 4096,     /* connections of launchers */
  UNAUTHENTICATED_MAX = 64, /* of these: that have not sent the secret yet */
  CONNECTIONS_MAX = 8192, /* of all doors; fewer if there are not enough descriptors */
  DATAGRAM_BYTES_MAX = 512, /* RFC 1035 without EDNS: longer questions are ignored */
  ANSWER_BYTES_MAX = 1232,
  QUESTIONS_MAX = 16, /* of a door, not yet answered by the host */
  BACKLOG = 64,
};

/* What a descriptor of the epoll set is. */
enum kind { KIND_HOST = 1, KIND_ENTRY, KIND_CLIENT, KIND_LISTENER, KIND_RESOLVER, KIND_INNER, KIND_OUTER };

uint64_t tag_of(enum kind kind, uint32_t index, uint32_t part);
bool watch_descriptor(int fd, uint32_t events, uint64_t tag); /* false: out of memory or watches */
void unwatch_descriptor(int fd);

_Noreturn void give_up(const char *what); /* the host reads it on standard error; all doors close with this process */

#endif
