/*
 * A nursery: connections that greet in pieces and in any order, children that end, a host that kills. An input is
 * `u32 seed, u32 bytes of the host, those, bytes of the connections`.
 */
#include "fake-kernel.h"

#include "../cell/nursery.c"

#include "without-main.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t own_secret[SECRET_BYTES];
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  size_t host_bytes = take_seed(&input);
  if (host_bytes > input.left) host_bytes = input.left;
  waiting_count = launcher_count = 0;
  is_out_of_descriptors = false;
  /* Half of them serve a family: everybody may connect there, and has to know the secret. */
  secret = (seed & 1) ? own_secret : NULL;
  zygote_fd = (seed & 1) ? 14 : -1;
  cell = (struct cell){.helper_fd = -1, .sync_fd = -1};
  fake_begin(seed, (struct bytes){input.at, host_bytes}, (struct bytes){input.at + host_bytes, input.left - host_bytes});
  if (setjmp(fake_end) == 0) run_nursery((struct frame){.type = FRAME_NURSERY, .length = 4});
  if (waiting_count > WAITING_MAX || launcher_count > LAUNCHERS_MAX) found("more than is bounded");
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].greeting_bytes > greeting_length()) found("more of a greeting than there is");
  }
  return 0;
}
