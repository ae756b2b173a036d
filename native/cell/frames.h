/*
 * The frames between host and launcher, and the numbers in them. Every received length is checked against a constant of
 * the file that reads it before it is used.
 */
#ifndef LAZARET_FRAMES_H
#define LAZARET_FRAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  FRAME_HEADER_BYTES = 9,        /* u32 length of the payload, u8 type, u32 id; little-endian */
  FRAME_BYTES_MAX = 1 << 20,     /* payload; argv and environment of one spawn fit (the kernel allows 2 MiB) */
  PLAN_BYTES_MAX = 4 << 20,      /* the plan's payload; it carries generated files such as certificates */
};

enum frame_type {
  /* host to cell */
  FRAME_PLAN = 1,
  FRAME_SPAWN = 2,
  FRAME_STDIN = 3,
  FRAME_STDIN_END = 4,
  FRAME_SIGNAL = 5,
  FRAME_PUT = 6,
  FRAME_END = 7,
  FRAME_KILL_ALL = 8,
  FRAME_BEGIN = 12, /* the run of a guest that was started ahead begins: its limits */
  FRAME_FINISH = 13, /* a guest has reported its end: nobody waits for its exit */
  FRAME_KILL_TREE = 14, /* a process and everything that it has started */
  FRAME_RESIZE = 15, /* its terminal: u32 columns, u32 rows */
  FRAME_HOLD = 16, /* u32: which of its streams are left unread, so that it blocks; see enum held */
  FRAME_CHANNEL = 17, /* bytes for its own channel, as STDIN */
  FRAME_CHANNEL_END = 18, /* no more of these bytes follow */
  FRAME_CHANNEL_CLOSE = 19, /* none follow, and the host no longer reads the channel */
  /* host to nursery: its name; the first bytes of each connection; which launcher to kill */
  FRAME_NURSERY = 9,
  FRAME_GREETING = 10,
  FRAME_KILL = 11,
  /* cell to host, on the control socket */
  FRAME_READY = 64,
  FRAME_SPAWNED = 65,
  FRAME_OUTPUT = 66,
  FRAME_EXIT = 67,
  FRAME_FAULT = 68,
  FRAME_EXCEEDED = 69,
  FRAME_STDIN_TAKEN = 70,
  FRAME_USAGE = 71,
  FRAME_ALONE = 72, /* after KILL_ALL: nothing but pid 1 is alive */
  FRAME_CHANNEL_TAKEN = 73,
  /* stub to host, on the report socket, where faults of the whole cell go too */
  FRAME_BORN = 80,
  FRAME_GONE = 81,
  /* nursery to host, after READY */
  FRAME_STARTED = 88, /* this launcher has its sockets */
  FRAME_REAPED = 89,  /* this launcher's pid may be reused from now on */
  FRAME_BARREN = 90,  /* the zygote is gone; its forks live on */
};

enum held {
  HELD_OUTPUT = 1,
  HELD_CHANNEL = 2,
};

enum exceeded {
  EXCEEDED_STDOUT = 1,
  EXCEEDED_MEMORY = 2,
  EXCEEDED_CPU = 3,
  EXCEEDED_STDERR = 4,
  EXCEEDED_WALL = 5,
  EXCEEDED_DISK = 6,
  EXCEEDED_PROCESSES = 7,
  EXCEEDED_FILES = 8,
};

/* A view of received bytes. `bad` stays set once a read went past the end: check it once, after the last read. */
struct reader {
  const uint8_t *at;
  size_t left;
  bool bad;
};

struct reader reader_of(const uint8_t *bytes, size_t length);
uint32_t take_u32(struct reader *reader);
uint64_t take_u64(struct reader *reader);
const uint8_t *take_bytes(struct reader *reader, uint32_t *length);
const char *take_string(struct reader *reader); /* NUL-terminated inside the buffer, no other NUL */
bool reader_done(const struct reader *reader);  /* everything read, nothing bad */

struct frame {
  uint32_t length;
  uint8_t type;
  uint32_t id;
};

void put_u32(uint8_t *at, uint32_t value);
void put_u64(uint8_t *at, uint64_t value);
struct frame frame_header(const uint8_t header[FRAME_HEADER_BYTES]);
void write_frame_header(uint8_t header[FRAME_HEADER_BYTES], struct frame frame);
bool read_exactly(int fd, void *buffer, size_t length);
bool write_exactly(int fd, const void *buffer, size_t length);
bool write_frame(int fd, struct frame frame, const void *payload);

#endif
