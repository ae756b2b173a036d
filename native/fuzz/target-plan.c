/*
 * Bytes of the plan: everything from the first frame on the control socket to the loop of pid 1, including every step
 * that builds a cell. An input is `u32 seed, records`; if the lowest bit of the seed is set, the input has the frame's
 * header, too.
 */
#include "fake-kernel.h"

#include <string.h>

#include "main.c"

#include "nursery/launchers.h"

#include "nursery/nursery.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t framed[FRAME_HEADER_BYTES + (64 << 10)];
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  if (input.left > sizeof framed - FRAME_HEADER_BYTES) return -1;
  if (!(seed & 1)) {
    write_frame_header(framed, (struct frame){.length = (uint32_t)input.left, .type = FRAME_PLAN});
    memcpy(framed + FRAME_HEADER_BYTES, input.at, input.left);
    input = (struct bytes){framed, FRAME_HEADER_BYTES + input.left};
  }
  cell = (struct cell){.record = UINT32_MAX, .sync_fd = -1, .zygote_fd = -1};
  forget_launchers();
  zygote_fd = -1;
  fake_begin(seed >> 1, input, input); /* connections to a nursery send the same bytes again */
  fake_be_outside();
  if (setjmp(fake_end) == 0) cell_main();
  return 0;
}
