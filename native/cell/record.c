/*
 * What the steps of a plan share: a payload that is read to its end, the slots, in which one step keeps descriptors for
 * another, and paths without links.
 */
#include "record.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

void require_whole(const struct reader *record) {
  errno = EPROTO;
  if (!reader_done(record)) fail("parse a record's payload");
}

void keep_in_slot(uint32_t slot, int fd) {
  errno = EPROTO;
  if (slot >= SLOTS_MAX || cell.slots[slot] != 0) fail("fill a slot");
  cell.slots[slot] = fd;
}

int take_from_slot(uint32_t slot) {
  errno = EPROTO;
  if (slot >= SLOTS_MAX || cell.slots[slot] == 0) fail("empty a slot");
  int fd = cell.slots[slot];
  cell.slots[slot] = 0;
  return fd;
}

/* As a folder first: the kernel mounts an automatic mount point for a path that has to be a folder, and for no other. */
int find_real_path(const char *path) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  int found = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
  if (found >= 0 || errno != ENOTDIR) return found;
  how.flags = O_PATH | O_CLOEXEC;
  return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}
