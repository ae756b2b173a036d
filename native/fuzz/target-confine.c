/*
 * The two records that are kept as bytes and parsed again in each guest: Landlock's rules and the system call filter. An
 * input is `u32 seed, u32 bytes of the filter's record, that record, the other record`.
 */
#include "fake-kernel.h"

#include "filters.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void confine(struct reader filter, struct reader landlock) {
  step_guest_landlock(&landlock);
  if (!reader_done(&landlock)) found("the rules did not consume their whole record");
  (void)restrict_with_landlock();
  step_guest_filter(&filter);
  if (cell.filter_bytes > FILTER_INSTRUCTIONS_MAX * sizeof(struct sock_filter)) found("a filter longer than its bound");
  (void)restrict_with_seccomp();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  size_t filter = take_seed(&input);
  if (filter > input.left) filter = input.left;
  cell = (struct cell){.sync_fd = -1};
  fake_begin(seed, (struct bytes){NULL, 0}, (struct bytes){NULL, 0});
  if (setjmp(fake_end) == 0) {
    confine(reader_of(input.at, filter), reader_of(input.at + filter, input.left - filter));
  }
  return 0;
}
