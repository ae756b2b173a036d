/*
 * The outbox: frames that wait for the host to read them. When it is full, the guests' pipes are left unread and
 * the guests wait: a slow reader costs them time and costs nobody memory.
 */
#include "outbox.h"
#include "cell.h"
#include "frames.h"
#include "spawns.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static uint8_t bytes[OUTBOX_BYTES];
static size_t from;
static size_t until;

/* Room for one chunk of output from each stream of one process and the frames that announce its end. */
bool outbox_has_room(void) { return OUTBOX_BYTES - (until - from) > (STREAMS + 1) * (OUTPUT_CHUNK_BYTES + FRAME_HEADER_BYTES); }

bool outbox_is_empty(void) { return from == until; }

bool outbox_flush(void) {
  while (from < until) {
    ssize_t count = write(CONTROL_FD, bytes + from, until - from);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) return false;
    from += (size_t)count;
  }
  from = until = 0;
  return true;
}

/* Waits for the host where a frame must go out and there is no room; only control frames ever get here. */
static void make_room(size_t length) {
  while (OUTBOX_BYTES - (until - from) < length) {
    struct pollfd polled = {.fd = CONTROL_FD, .events = POLLOUT};
    if (poll(&polled, 1, -1) < 0 && errno != EINTR) fail("wait for the host to read");
    if (!outbox_flush()) _exit(0);
  }
  if (OUTBOX_BYTES - until < length) {
    memmove(bytes, bytes + from, until - from);
    until -= from;
    from = 0;
  }
}

void outbox_add(struct frame frame, const void *payload) {
  make_room(FRAME_HEADER_BYTES + frame.length);
  write_frame_header(bytes + until, frame);
  if (frame.length > 0) memcpy(bytes + until + FRAME_HEADER_BYTES, payload, frame.length);
  until += FRAME_HEADER_BYTES + frame.length;
}

/*
 * Reads from a guest's pipe straight into an OUTPUT frame. Returns what read() returns. With `keep` false the
 * bytes are read and forgotten.
 */
ssize_t outbox_add_output(uint32_t id, uint8_t stream, int fd, size_t most, bool keep) {
  if (most > OUTPUT_CHUNK_BYTES) most = OUTPUT_CHUNK_BYTES;
  make_room(FRAME_HEADER_BYTES + 1 + most);
  ssize_t count = read(fd, bytes + until + FRAME_HEADER_BYTES + 1, most);
  if (count <= 0 || !keep) return count;
  write_frame_header(bytes + until, (struct frame){.length = (uint32_t)count + 1, .type = FRAME_OUTPUT, .id = id});
  bytes[until + FRAME_HEADER_BYTES] = stream;
  until += FRAME_HEADER_BYTES + 1 + (size_t)count;
  return count;
}

void outbox_fault(uint32_t id, int error, const char *what) {
  uint8_t payload[256];
  size_t length = strlen(what);
  if (length > sizeof payload - 8) length = sizeof payload - 8;
  put_u32(payload, UINT32_MAX); /* no record of the plan */
  put_u32(payload + 4, (uint32_t)error);
  memcpy(payload + 8, what, length);
  outbox_add((struct frame){.length = (uint32_t)(8 + length), .type = FRAME_FAULT, .id = id}, payload);
}
