/*
 * Files of the sandbox, one at a time: reading, writing, renaming. A write overwrites the existing file, like a shell's
 * `>`, so its mode, its owner and its other names stay.
 */
#include "files/content.h"
#include "frames.h"
#include "files/paths.h"
#include "files/records.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint8_t piece[PIECE_BYTES];

static ssize_t read_piece(int fd) {
  ssize_t count = 0;
  do count = read(fd, piece, sizeof piece);
  while (count < 0 && errno == EINTR);
  return count;
}

static bool copy_bytes(int from, int to) {
  ssize_t count = 0;
  while ((count = read_piece(from)) > 0) {
    if (!write_exactly(to, piece, (size_t)count)) return false;
  }
  return count == 0;
}

bool read_content(char *const arguments[]) {
  const char *path = arguments[0];
  uint64_t left = strtoull(arguments[1], NULL, 10);
  struct stat facts;
  int fd = open_regular(AT_FDCWD, path, O_RDONLY, &facts);
  if (fd < 0) return refuse("open", path);
  /* Files of the kernel have no size before they are read. */
  bool fits = facts.st_size < 0 || (uint64_t)facts.st_size <= left;
  for (ssize_t count = 0; fits && (count = read_piece(fd)) != 0; left -= (uint64_t)count) {
    if (count < 0) return refuse("read", path);
    fits = (uint64_t)count <= left;
    if (fits && !emit(piece, (size_t)count)) return refuse("answer", path);
    if (!fits) break;
  }
  errno = EFBIG;
  return fits || refuse("fit", path);
}

bool write_content(char *const arguments[]) {
  const char *path = arguments[0];
  struct stat facts;
  if (arguments[1][0] == '1' && !make_folders(path, false)) return refuse("make", path);
  int fd = open_regular(AT_FDCWD, path, O_WRONLY | O_CREAT, &facts);
  if (fd < 0) return refuse("open", path);
  return (ftruncate(fd, 0) == 0 && copy_bytes(STDIN_FILENO, fd) && close(fd) == 0) || refuse("write", path);
}

bool rename_path(char *const arguments[]) {
  return rename(arguments[0], arguments[1]) == 0 || refuse("rename", arguments[0]);
}

/*
 * Moves a file to another file system. A file that has the new name is removed first; rename(2) would replace it, too.
 */
static bool copy_over(const char *from, const char *to) {
  struct stat facts;
  int source = open_regular(AT_FDCWD, from, O_RDONLY | O_NOFOLLOW, &facts);
  if (source < 0) return refuse("open", from);
  if (unlink(to) < 0 && errno != ENOENT) return refuse("replace", to);
  int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (target < 0) return refuse("open", to);
  struct timespec times[2] = {facts.st_atim, facts.st_mtim};
  if (copy_bytes(source, target) && fchmod(target, facts.st_mode & 0777) == 0 && futimens(target, times) == 0 &&
      close(target) == 0) {
    return unlink(from) == 0 || refuse("remove", from);
  }
  int error = errno;
  (void)unlink(to);
  errno = error;
  return refuse("write", to);
}

bool move_path(char *const arguments[]) {
  if (rename(arguments[0], arguments[1]) == 0) return true;
  return errno == EXDEV ? copy_over(arguments[0], arguments[1]) : refuse("rename", arguments[0]);
}
