/*
 * The outbox: frames that the host has not read yet. When it is full, the guests' pipes are left unread and the guests
 * block: a slow reader costs them time, but no memory. Output that a guest prints byte by byte while the host is slow
 * becomes one frame, so that the host never gets a hundred thousand small ones.
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

/* The newest frame, if it is output: more of the same stream is added until its first byte is sent. */
static struct {
  bool is_open;
  size_t at;
  uint32_t id;
  uint8_t stream;
  uint32_t length;
} newest;

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
  newest.is_open = false;
  return true;
}

/* Waits for the host if a frame must be sent and there is no room; only control frames ever get here. */
static void make_room(size_t length) {
  while (OUTBOX_BYTES - (until - from) < length) {
    struct pollfd polled = {.fd = CONTROL_FD, .events = POLLOUT};
    if (poll(&polled, 1, -1) < 0 && errno != EINTR) fail("wait for the host to read");
    if (!outbox_flush()) _exit(0);
  }
  if (OUTBOX_BYTES - until < length) {
    memmove(bytes, bytes + from, until - from);
    newest.is_open = newest.is_open && newest.at >= from;
    newest.at -= newest.is_open ? from : 0;
    until -= from;
    from = 0;
  }
}

void outbox_add(struct frame frame, const void *payload) {
  make_room(FRAME_HEADER_BYTES + frame.length);
  newest.is_open = false;
  write_frame_header(bytes + until, frame);
  if (frame.length > 0) memcpy(bytes + until + FRAME_HEADER_BYTES, payload, frame.length);
  until += FRAME_HEADER_BYTES + frame.length;
}

static bool can_extend(uint32_t id, uint8_t stream) {
  bool is_unsent = newest.is_open && newest.at >= from;
  return is_unsent && newest.id == id && newest.stream == stream && newest.length < OUTPUT_CHUNK_BYTES;
}

/*
 * Reads from a guest's pipe straight into an OUTPUT frame. Returns what read() returns. With `keep` false the
 * bytes are read and forgotten.
 */
ssize_t outbox_add_output(uint32_t id, uint8_t stream, int fd, size_t most, bool keep) {
  if (most > OUTPUT_CHUNK_BYTES) most = OUTPUT_CHUNK_BYTES;
  make_room(FRAME_HEADER_BYTES + 1 + most);
  bool extends = can_extend(id, stream);
  size_t header_bytes = extends ? 0 : FRAME_HEADER_BYTES + 1;
  if (extends && most > OUTPUT_CHUNK_BYTES - newest.length) most = OUTPUT_CHUNK_BYTES - newest.length;
  ssize_t count = read(fd, bytes + until + header_bytes, most);
  if (count <= 0 || !keep) return count;
  if (!extends) {
    newest.is_open = true;
    newest.at = until;
    newest.id = id;
    newest.stream = stream;
    newest.length = 0;
    bytes[until + FRAME_HEADER_BYTES] = stream;
  }
  newest.length += (uint32_t)count;
  write_frame_header(bytes + newest.at, (struct frame){.length = newest.length + 1, .type = FRAME_OUTPUT, .id = id});
  until += header_bytes + (size_t)count;
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
