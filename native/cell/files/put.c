/*
 * Files that the host puts into the cell before a guest starts. No link is followed and no component may be a
 * link, `.` or `..`; it uses the guest's ids, so the kernel allows only what the guest itself could do.
 */
#include "files/put.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PUT_CREATES = 1, NAME_BYTES_MAX = 255 };

static int open_folder(int parent, const char *name) {
  int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = openat(parent, name, flags);
  if (fd < 0 && errno == ENOENT && mkdirat(parent, name, 0755) == 0) fd = openat(parent, name, flags);
  return fd;
}

/* Opens the file at an absolute path, making its folders. -1 with errno set when that is refused. */
static int open_at_path(const char *path, int flags, mode_t mode) {
  if (*path != '/') {
    errno = EINVAL;
    return -1;
  }
  int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const char *name = path + 1;
  while (folder >= 0) {
    char component[NAME_BYTES_MAX + 1];
    size_t length = strcspn(name, "/");
    bool last = name[length] == 0;
    if (length == 0 || length > NAME_BYTES_MAX || strncmp(name, ".", length) == 0 || strncmp(name, "..", length) == 0) {
      errno = EINVAL;
      break;
    }
    memcpy(component, name, length);
    component[length] = 0;
    int next = last ? openat(folder, component, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
                    : open_folder(folder, component);
    int error = errno;
    close(folder);
    errno = error;
    if (last) return next;
    folder = next;
    name += length + 1;
  }
  int error = errno;
  if (folder >= 0) close(folder);
  errno = error;
  return -1;
}

/* A file that cannot be put ends the cell: no program may run without the files of its request. */
bool put_file(struct reader *request) {
  uint32_t flags = take_u32(request);
  mode_t mode = take_u32(request);
  const char *path = take_string(request);
  uint32_t length = 0;
  const uint8_t *content = take_bytes(request, &length);
  if (!reader_done(request)) return false;
  int fd = open_at_path(path, O_WRONLY | ((flags & PUT_CREATES) ? O_CREAT | O_EXCL : O_APPEND), mode);
  check(fd, "create a file");
  if (!write_exactly(fd, content, length)) fail("write a file");
  check(close(fd), "close a file");
  return true;
}
