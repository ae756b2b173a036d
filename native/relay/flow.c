/*
 * One direction of a connection. splice(2) moves pages between sockets, through a pipe, whose capacity bounds the
 * waiting bytes.
 */
#include "flow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  PIECE_BYTES = 64 * 1024, /* what a new pipe holds */
  LARGE_BYTES = 1024 * 1024, /* the most that an ordinary user may set (/proc/sys/fs/pipe-max-size) */
  SHARE_BYTES = 1024 * 1024, /* of one direction in a round, so that the others get their turn */
  SPARE_MAX = 32,
  LARGE_MAX = 16,
};

/* Empty pipes to reuse: an idle connection has none, and a busy one gets one without a system call. */
static int spare[SPARE_MAX][2];
static int spares;

/*
 * Each piece wakes both peers, which costs more than moving it. Large pipes are for sources that fill small ones. A
 * guest that does not read keeps the pipe that holds its bytes, so there are few large ones, whatever the number of
 * connections.
 */
static int large[LARGE_MAX][2];
static int larges;
static int large_count; /* lent ones too */

static bool make_large_pipe(struct flow *flow) {
  if (large_count == LARGE_MAX || pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK) < 0) return false;
  large_count++;
  /* If the user's limit on pipes refuses this, the pipe keeps the usual size and still counts as large. */
  (void)fcntl(flow->pipe[1], F_SETPIPE_SZ, LARGE_BYTES);
  return true;
}

static bool borrow_large_pipe(struct flow *flow) {
  if (larges > 0) {
    larges--;
    flow->pipe[0] = large[larges][0];
    flow->pipe[1] = large[larges][1];
  } else if (!make_large_pipe(flow)) {
    return false;
  }
  flow->is_large = true;
  return true;
}

static bool borrow_pipe(struct flow *flow) {
  if (flow->pipe[1] > 0) return true;
  if (flow->is_fast && borrow_large_pipe(flow)) return true;
  if (spares > 0) {
    spares--;
    flow->pipe[0] = spare[spares][0];
    flow->pipe[1] = spare[spares][1];
    return true;
  }
  if (pipe2(flow->pipe, O_CLOEXEC | O_NONBLOCK) == 0) return true;
  flow->pipe[0] = flow->pipe[1] = 0;
  return false;
}

static void return_pipe(struct flow *flow) {
  if (flow->pipe[1] <= 0) return;
  if (flow->is_large && flow->held == 0) {
    large[larges][0] = flow->pipe[0];
    large[larges][1] = flow->pipe[1];
    larges++;
  } else if (!flow->is_large && flow->held == 0 && spares < SPARE_MAX) {
    spare[spares][0] = flow->pipe[0];
    spare[spares][1] = flow->pipe[1];
    spares++;
  } else {
    close(flow->pipe[0]);
    close(flow->pipe[1]);
    if (flow->is_large) large_count--;
  }
  flow->is_large = false;
  flow->pipe[0] = flow->pipe[1] = 0;
}

void end_flow(struct flow *flow) { return_pipe(flow); }

static bool is_later(void) { return errno == EAGAIN || errno == EINTR; }

/* An exact fit passes: only what comes after it is too much. */
static enum flow_state look_for_end(struct flow *flow, int from) {
  char byte;
  ssize_t count = recv(from, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count > 0) return FLOW_OVER_BYTES;
  if (count < 0 && !is_later()) return FLOW_FAILED;
  flow->has_ended = count == 0;
  return FLOW_WAITS;
}

/* FLOW_GOES_ON: the pipe holds something now. FLOW_WAITS: nothing is there, or nothing more will be. */
static enum flow_state fill(struct flow *flow, int from, uint64_t *bytes_left) {
  if (flow->has_ended) return FLOW_WAITS;
  if (*bytes_left == 0) return look_for_end(flow, from);
  if (flow->is_fast && !flow->is_large && large_count - larges < LARGE_MAX) return_pipe(flow);
  if (!borrow_pipe(flow)) return FLOW_FAILED;
  size_t room = flow->is_large ? LARGE_BYTES : PIECE_BYTES;
  size_t most = *bytes_left < room ? (size_t)*bytes_left : room;
  ssize_t count = splice(from, NULL, flow->pipe[1], NULL, most, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  if (count < 0) return is_later() ? FLOW_WAITS : FLOW_FAILED;
  flow->has_ended = count == 0;
  flow->held = (size_t)count;
  flow->is_fast = flow->held >= PIECE_BYTES;
  *bytes_left -= (uint64_t)count;
  return count == 0 ? FLOW_WAITS : FLOW_GOES_ON;
}

/* FLOW_GOES_ON: the pipe is empty now. FLOW_WAITS: the target takes no more for now. */
static enum flow_state drain(struct flow *flow, int to) {
  while (flow->held > 0) {
    ssize_t count = splice(flow->pipe[0], NULL, to, NULL, flow->held, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
    if (count < 0) return is_later() ? FLOW_WAITS : FLOW_FAILED;
    flow->held -= (size_t)count;
    flow->bytes += (uint64_t)count;
  }
  return FLOW_GOES_ON;
}

/* Passes on a half-close: the target may still answer. */
static void pass_on_end(struct flow *flow, int to) {
  if (!flow->has_ended || flow->is_shut || flow->held > 0) return;
  (void)shutdown(to, SHUT_WR);
  flow->is_shut = true;
}

enum flow_state move_bytes(struct flow *flow, int from, int to, uint64_t *bytes_left) {
  enum flow_state state = FLOW_GOES_ON;
  for (size_t moved = 0; state == FLOW_GOES_ON && moved < SHARE_BYTES;) {
    state = flow->held > 0 ? FLOW_GOES_ON : fill(flow, from, bytes_left);
    if (state != FLOW_GOES_ON) break;
    size_t held = flow->held;
    state = drain(flow, to);
    moved += held - flow->held;
  }
  if (flow->held == 0) return_pipe(flow);
  pass_on_end(flow, to);
  return state;
}
