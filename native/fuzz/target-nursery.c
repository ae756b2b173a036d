/*
 * A nursery: connections whose greetings arrive in pieces and in any order, children that end, and kill requests of the
 * host. An input is `u32 seed, u32 length, bytes of the host, bytes of the connections`.
 */
#include "fake-kernel.h"

#include "nursery/connections.c"

#include "nursery/launchers.c"

#include "nursery/nursery.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Half of the inputs serve a family, where everybody may connect, but has to know the secret. */
static void nurse(bool is_family) {
  static const uint8_t own_secret[SECRET_BYTES];
  if (is_family) {
    open_nursery(4);
    run_family(listen_fd, own_secret, 14);
  } else {
    run_nursery(4);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  size_t host_bytes = take_seed(&input);
  if (host_bytes > input.left) host_bytes = input.left;
  launcher_count = 0;
  zygote_fd = -1;
  cell = (struct cell){.sync_fd = -1};
  fake_begin(seed, (struct bytes){input.at, host_bytes}, (struct bytes){input.at + host_bytes, input.left - host_bytes});
  if (setjmp(fake_end) == 0) nurse((seed & 1) != 0);
  if (waiting_count > CONNECTIONS_MAX || launcher_count > LAUNCHERS_MAX) found("more connections or launchers than their bounds");
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].greeting_bytes > greeting_length()) found("more bytes than a greeting has");
  }
  return 0;
}
