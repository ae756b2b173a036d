/*
 * Cgroups of this process and its guests. Their files are opened before a change of ids or mounts makes that
 * impossible.
 */
#include "build/cgroups.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void step_open_write(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  require_whole(record);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  check(fd, "open a cgroup's file");
  keep_in_slot(slot, fd);
}

/* Joins a cgroup. The permission comes from the open file, so it works after every change of ids. */
void step_join(struct reader *record) {
  uint32_t slot = take_u32(record);
  require_whole(record);
  int fd = take_from_slot(slot);
  check(write(fd, "0", 1), "join a cgroup");
  check(close(fd), "close a cgroup's file");
}

/* ---- for spaces: their cgroups, which this cell's view of files does not show ---- */

void step_open_folder(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  require_whole(record);
  int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  check(fd, "open the folder of cgroups");
  keep_in_slot(slot, fd);
}

void step_open_at(struct reader *record) {
  uint32_t slot = take_u32(record);
  uint32_t folder = take_u32(record);
  const char *path = take_string(record);
  require_whole(record);
  errno = EPROTO;
  if (folder >= SLOTS_MAX || cell.slots[folder] == 0) fail("find the folder of cgroups");
  int fd = openat(cell.slots[folder], path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  check(fd, "open a cgroup's file");
  keep_in_slot(slot, fd);
}

/* Keeps a cgroup's file for guests: each joins that cgroup when it starts, while pid 1 stays outside. */
void step_guest_join(struct reader *record) {
  uint32_t slot = take_u32(record);
  require_whole(record);
  errno = EPROTO;
  if (cell.guest_join_count == CGROUPS_MAX) fail("keep a cgroup's file");
  cell.guest_joins[cell.guest_join_count++] = take_from_slot(slot);
}
