/*
 * Bytes on the control socket of a cell that serves: spawns, stdin, signals, files, and their ends, while guests print,
 * end and are reaped in any order. An input is `u32 seed, frames`; the lowest bits of the seed choose between pid 1 and a
 * warden.
 */
#include "fake-kernel.h"

#include "outbox.c"

#include "serve/serve.c"

#include "watch/survey.c"

#include "watch/watchdog.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A warden in the place of pid 1; the seed decides whether it has a scope of signals, and guests their own ids. */
static void become_warden(uint32_t seed) {
  fake_be_outside();
  cell.is_warded = true;
  cell.scoped = (seed & 2) != 0;
  cell.guest_changes_ids = (seed & 4) != 0;
  cell.guest_uid = cell.guest_gid = 0;
  cell.work = "/var/work";
  cell.disk_bytes = cell.disk_entries = 1 << 16;
  cell.sync_fd = 15;
}

static bool is_overfull(const struct inlet *inlet) {
  return inlet->count + inlet->untold > INLET_BYTES || inlet->from >= INLET_BYTES;
}

static void begin_anew(void) {
  static const uint8_t filter[8] = {6, 0, 0, 0, 0, 0, 0xff, 0x7f};
  for (int i = 0; i < SPAWNS_MAX; i++) spawns[i].used = false;
  spawn_places = 0;
  inbox_bytes = 0;
  owed = (struct owed){0};
  from = until = 0;
  watched = (struct watched){0};
  memset(surveyors, 0, sizeof surveyors); /* no process of an earlier input */
  cell = (struct cell){.sync_fd = -1, .zygote_fd = 13, .fork_root = "/cell", .filter = filter};
  cell.has_landlock = true;
  cell.locks.fd = 14;
  cell.locks.most = 4;
  cell.filter_bytes = sizeof filter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  begin_anew();
  fake_begin(seed >> 3, input, (struct bytes){NULL, 0});
  if (seed & 1) become_warden(seed);
  struct reader nothing = reader_of(NULL, 0);
  if (setjmp(fake_end) == 0) step_serve(&nothing);
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used && (is_overfull(&spawns[i].input) || is_overfull(&spawns[i].channel))) {
      found("an inlet counts more bytes than its ring holds");
    }
  }
  if (inbox_bytes > sizeof inbox || until > sizeof bytes || from > until) found("a buffer counts more bytes than it has");
  return 0;
}
