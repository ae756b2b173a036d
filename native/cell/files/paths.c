/*
 * Opens and creates paths that guests may be changing: without blocking, and inside a folder without following links.
 * Source: openat2(2).
 */
#include "files/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* With O_PATH the kernel rejects flags that only matter for an open file. */
int open_inside(int folder, const char *name, uint64_t flags) {
  struct open_how how = {
      .flags = flags | O_NOFOLLOW | O_CLOEXEC,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
  };
  return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

int open_regular(int folder, const char *name, int flags, struct stat *facts) {
  int fd = openat(folder, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  bool known = fstat(fd, facts) == 0;
  if (known && S_ISREG(facts->st_mode)) return fd;
  int error = known && S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
  close(fd);
  errno = error;
  return -1;
}

/* The folders of a path, like `mkdir -p`: what is there already is fine. */
bool make_folders(const char *path, bool last_too) {
  char part[TARGET_BYTES_MAX];
  size_t length = strlen(path);
  errno = ENAMETOOLONG;
  if (length >= sizeof part) return false;
  for (size_t end = 1; end <= length; end++) {
    bool last = end == length;
    if ((last && !last_too) || (!last && path[end] != '/')) continue;
    memcpy(part, path, end);
    part[end] = 0;
    if (mkdir(part, 0777) == 0 || errno == EEXIST) continue;
    return false;
  }
  return true;
}
