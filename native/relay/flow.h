/*
 * One direction of a connection: bytes go from a socket through a pipe to another, and are never copied to this process.
 */
#ifndef LAZARET_FLOW_H
#define LAZARET_FLOW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flow {
  int pipe[2];    /* 0, 0: none; borrowed while bytes are in it */
  bool is_large;  /* that pipe */
  bool is_fast;   /* the source has filled a pipe of the usual size at once */
  size_t held;    /* bytes in it */
  bool has_ended; /* nothing more comes from the source */
  bool is_shut;   /* and the target knows */
  uint64_t bytes; /* delivered */
};

enum flow_state { FLOW_WAITS, FLOW_GOES_ON, FLOW_OVER_BYTES, FLOW_FAILED };

/* Moves what can be moved now, within a round's share. On failure errno is set. */
enum flow_state move_bytes(struct flow *flow, int from, int to, uint64_t *bytes_left);
void end_flow(struct flow *flow);

#endif
