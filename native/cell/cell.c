/*
 * The one cell of this process, and the report of a step that failed.
 */
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct cell cell = {.record = UINT32_MAX, .sync_fd = -1, .zygote_fd = -1};

_Noreturn void fail(const char *what) {
  int error = errno;
  uint8_t payload[256];
  size_t length = strlen(what);
  if (length > sizeof payload - 8) length = sizeof payload - 8;
  put_u32(payload, cell.record);
  put_u32(payload + 4, (uint32_t)error);
  memcpy(payload + 8, what, length);
  /* When this write fails too, the host learns of the failure from the end of the socket. */
  (void)write_frame(REPORT_FD, (struct frame){.length = (uint32_t)(8 + length), .type = FRAME_FAULT}, payload);
  _exit(1);
}

void check(long result, const char *what) {
  if (result < 0) fail(what);
}
