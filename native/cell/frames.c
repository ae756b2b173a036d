/*
 * Frames and records: the only bytes this program parses. The host is trusted to be honest but not to be correct. So
 * every read is checked against the remaining bytes, and a malformed frame ends the cell.
 */
#include "frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct reader reader_of(const uint8_t *bytes, size_t length) {
  return (struct reader){.at = bytes, .left = length, .bad = false};
}

static const uint8_t *take(struct reader *reader, size_t length) {
  if (reader->bad || reader->left < length) {
    reader->bad = true;
    return NULL;
  }
  const uint8_t *at = reader->at;
  reader->at += length;
  reader->left -= length;
  return at;
}

uint32_t take_u32(struct reader *reader) {
  const uint8_t *at = take(reader, 4);
  if (!at) return 0;
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t take_u64(struct reader *reader) {
  uint64_t low = take_u32(reader);
  return low | (uint64_t)take_u32(reader) << 32;
}

const uint8_t *take_bytes(struct reader *reader, uint32_t *length) {
  *length = take_u32(reader);
  const uint8_t *at = take(reader, *length);
  if (!at) *length = 0;
  return at;
}

const char *take_string(struct reader *reader) {
  uint32_t length = 0;
  const uint8_t *at = take_bytes(reader, &length);
  if (!at || length == 0 || memchr(at, 0, length) != at + length - 1) {
    reader->bad = true;
    return "";
  }
  return (const char *)at;
}

bool reader_done(const struct reader *reader) { return !reader->bad && reader->left == 0; }

void put_u32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

void put_u64(uint8_t *at, uint64_t value) {
  for (int i = 0; i < 8; i++) at[i] = (uint8_t)(value >> (8 * i));
}

struct frame frame_header(const uint8_t header[FRAME_HEADER_BYTES]) {
  struct reader reader = reader_of(header, FRAME_HEADER_BYTES);
  struct frame frame = {.length = take_u32(&reader), .type = header[4]};
  reader = reader_of(header + 5, 4);
  frame.id = take_u32(&reader);
  return frame;
}

void write_frame_header(uint8_t header[FRAME_HEADER_BYTES], struct frame frame) {
  put_u32(header, frame.length);
  header[4] = frame.type;
  put_u32(header + 5, frame.id);
}

bool read_exactly(int fd, void *buffer, size_t length) {
  uint8_t *at = buffer;
  while (length > 0) {
    ssize_t count = read(fd, at, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

bool write_exactly(int fd, const void *buffer, size_t length) {
  const uint8_t *at = buffer;
  while (length > 0) {
    ssize_t count = write(fd, at, length);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    length -= (size_t)count;
  }
  return true;
}

/* A short frame in one write: a second one would wake the reader again. */
bool write_frame(int fd, struct frame frame, const void *payload) {
  uint8_t bytes[FRAME_HEADER_BYTES + 64];
  write_frame_header(bytes, frame);
  if (frame.length > sizeof bytes - FRAME_HEADER_BYTES) {
    return write_exactly(fd, bytes, FRAME_HEADER_BYTES) && write_exactly(fd, payload, frame.length);
  }
  if (frame.length > 0) memcpy(bytes + FRAME_HEADER_BYTES, payload, frame.length);
  return write_exactly(fd, bytes, FRAME_HEADER_BYTES + frame.length);
}
