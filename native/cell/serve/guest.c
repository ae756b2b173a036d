/*
 * The last steps before foreign code runs. Their order keeps each step possible and leaves nothing open. seccomp comes
 * last.
 */
#include "serve/guest.h"
#include "cell.h"
#include "filters.h"
#include "frames.h"
#include "ids.h"
#include "spawns.h"
#include "serve/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The strings stay in the request's buffer: the guest is a fork and has its own copy of it. */
static char **take_strings(char **into, char **end, struct reader *request) {
  uint32_t count = take_u32(request);
  if (request->bad || count >= (size_t)(end - into)) return NULL;
  for (uint32_t i = 0; i < count; i++) *into++ = (char *)(uintptr_t)take_string(request);
  *into++ = NULL;
  return into;
}

bool take_program(struct program *program, struct spawn *spawn, struct reader *request) {
  program->flags = take_u32(request);
  program->watched = take_watched(spawn, request);
  spawn->is_own_task = (program->flags & (SPAWN_COLLECTS | SPAWN_FILES)) != 0;
  program->folder = take_string(request);
  program->file = take_string(request);
  uint32_t kinds = program->flags & SPAWN_HAS_DESCRIPTOR_3;
  if ((kinds & (kinds - 1)) != 0 || (program->flags & ~(uint32_t)SPAWN_FLAGS) != 0) return false;
  if (request->bad || !take_rlimits(&program->rlimits, request)) return false;
  char **end = program->arguments + ARGUMENTS_MAX;
  program->environment = take_strings(program->arguments, end, request);
  if (!program->environment || !take_strings(program->environment, end, request)) return false;
  if (program->flags & SPAWN_HAS_TERMINAL) {
    program->columns = take_u32(request);
    program->rows = take_u32(request);
  }
  if (program->flags & SPAWN_SPLITS) program->origin = take_u32(request);
  return reader_done(request);
}

const char *arrange_descriptors(const int fds[GUEST_FDS]) {
  enum { ABOVE_ALL = 16 };
  int copies[GUEST_FDS];
  /* Copies descriptors above every number that is about to be used, so that no dup2 closes a source. */
  for (int i = 0; i < GUEST_FDS; i++) {
    copies[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD_CLOEXEC, ABOVE_ALL);
    if (copies[i] < 0 && (fds[i] >= 0 || i != GUEST_CHANNEL_FD)) return "copy a descriptor";
  }
  for (int fd = 0; fd < GUEST_CHANNEL_FD; fd++) {
    if (dup2(copies[fd], fd) < 0) return "place a descriptor";
  }
  if (copies[GUEST_CHANNEL_FD] >= 0) {
    if (dup2(copies[GUEST_CHANNEL_FD], GUEST_CHANNEL_FD) < 0) return "place the channel";
  } else {
    close(GUEST_CHANNEL_FD);
  }
  if (dup3(copies[EXEC_FD], EXEC_FD, O_CLOEXEC) < 0) return "place the exec pipe";
  return syscall(SYS_close_range, EXEC_FD + 1, ~0U, 0) == 0 ? NULL : "close the other descriptors";
}

const char *confine_guest(const struct program *program) {
  if (!set_rlimits(&program->rlimits, 0)) return "set an rlimit";
  if (cell.guest_root && chroot(cell.guest_root) < 0) return "enter the guests' root";
  if (chdir("/") < 0) return "enter /";
  if (!drop_to_guest_ids()) return "drop to the guest's ids";
  if (!drop_capabilities()) return "drop the capabilities";
  if (chdir(program->folder) < 0) return "enter the working folder";
  if (!restrict_with_landlock()) return "apply Landlock";
  return restrict_with_seccomp() ? NULL : "apply seccomp";
}

void report_failed_step(int fd, const char *step) {
  uint8_t report[128];
  int error = errno;
  size_t length = strlen(step);
  if (length > sizeof report - 4) length = sizeof report - 4;
  put_u32(report, (uint32_t)error);
  memcpy(report + 4, step, length);
  (void)write_exactly(fd, report, 4 + length);
}
