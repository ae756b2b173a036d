/*
 * Files of /proc, with process names that guests choose, and the reports of children that could not execute their
 * program. An input is `u32 seed, names and files`, in the order in which they are read.
 */
#include "fake-kernel.h"

#include "outbox.c"

#include "watch/memory/memory.c"

#include "watch/processor.c"

#include "watch/memory/sockets.c"

#include "facts.h"
#include "serve/guests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(void) {
  char facts[256];
  static struct spawn spawn;
  (void)memory_bytes(1 << 20);
  (void)work_bytes_over();
  (void)processor_us();
  (void)processor_us();
  if (collect_facts(facts, sizeof facts) > sizeof facts) found("facts: more bytes than their buffer");
  spawn = (struct spawn){.used = true, .exec_fd = 20, .pid = 100};
  read_exec_report(&spawn);
  if (until > sizeof bytes) found("a buffer counts more bytes than it has");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  /* With its own folder a cell has no namespaces, and finds its processes from parent to child. */
  bool is_warded = (seed & 1) != 0;
  cell = (struct cell){.sync_fd = -1, .has_own_network = !is_warded, .is_warded = is_warded};
  cell.work = "/var/work";
  cell.disk_bytes = cell.disk_entries = 1 << 16;
  diagnosis_fd = -1;
  next_us = 0;
  remembered_count = 0;
  gone_us = peak_bytes = 0;
  from = until = 0;
  fake_begin(seed, (struct bytes){NULL, 0}, input);
  if (setjmp(fake_end) == 0) look();
  return 0;
}
