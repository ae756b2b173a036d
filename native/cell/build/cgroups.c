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
#include <sys/stat.h>
#include <sys/uio.h>
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

/* ---- cached pages, which are charged to the cgroup that reads them first ---- */

/*
 * The kernel may read no more than this for one request. Looking whether a chunk is cached takes a fifth of the time of a
 * request that finds it cached.
 */
enum { CHUNK_BYTES = 128 << 10 };

static bool is_cached(int fd, off_t offset) {
  char byte;
  struct iovec into = {&byte, sizeof byte};
  return preadv2(fd, &into, 1, offset, RWF_NOWAIT) == sizeof byte;
}

/*
 * Has the kernel cache a program while this process is still in the host's cgroup. Otherwise a guest's memory limit would
 * cover the pages of its own interpreter: close to the limit, the kernel drops them and reads them from disk again, and
 * the guest hardly advances, instead of running out of memory. This is only advice: a program that cannot be read may
 * still be executable.
 * Source: cgroup-v1/memory.rst, "Shared Page Accounting"; posix_fadvise(2); preadv2(2), RWF_NOWAIT.
 */
void step_read_ahead(struct reader *record) {
  const char *path = take_string(record);
  require_whole(record);
  errno = EPROTO;
  if (path[0] != '/') fail("read the path of a program");
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat facts;
  off_t size = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_size : 0;
  for (off_t offset = 0; offset < size; offset += CHUNK_BYTES) {
    if (!is_cached(fd, offset)) (void)posix_fadvise(fd, offset, CHUNK_BYTES, POSIX_FADV_WILLNEED);
  }
  check(close(fd), "close a program");
}
