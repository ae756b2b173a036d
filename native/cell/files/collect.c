/*
 * Bringing files of the workspace back to the host. A fork of pid 1 that is confined like every guest (ids, Landlock,
 * seccomp) and executes this instead of a program, when no guest is alive any more. Whatever guest code has prepared,
 * it reaches nothing that guests could not reach: no component of a path may be a link, and only regular files count.
 *
 * list: walks the paths in its arguments. For each regular file `u64 size, u32 length, path`; then an empty path if
 * nothing was left out.
 * read: takes `u64 size, u32 length, path` from standard input until it ends. For each path `u32 errno`, and after a 0
 * pieces `u32 length, bytes`, the last of them empty. Never more than `size` bytes of one file.
 */
#include "files/collect.h"
#include "frames.h"
#include "files/paths.h"
#include "files/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  DEPTH_MAX = 64,        /* nested folders, and descriptors open at one time */
  ENTRIES_MAX = 100000,  /* inspected, files or not */
  PATH_BYTES_MAX = 4096, /* PATH_MAX: the longest path of one system call, ours or the host's */
  LISTED_BYTES = 12,     /* u64 size, u32 length */
};

struct folder {
  DIR *stream;
  size_t path_bytes; /* length of the path up to and including its slash */
};

static struct folder folders[DEPTH_MAX];
static size_t depth;
static char path[PATH_BYTES_MAX];
static size_t entries;

static bool emit_listed(uint64_t size, size_t path_bytes) {
  uint8_t head[LISTED_BYTES];
  put_u64(head, size);
  put_u32(head + 8, (uint32_t)path_bytes);
  return emit(head, sizeof head) && emit(path, path_bytes);
}

/* ---- list ---- */

/* Takes ownership of the descriptor. False if the folder cannot be read. */
static bool enter(int fd, size_t path_bytes) {
  DIR *stream = fd < 0 || depth == DEPTH_MAX ? NULL : fdopendir(fd);
  if (!stream) {
    if (fd >= 0) close(fd);
    return false;
  }
  folders[depth++] = (struct folder){.stream = stream, .path_bytes = path_bytes};
  return true;
}

/* One entry of the innermost folder. False when it had to be left out. */
static bool take_entry(const struct folder *folder, const char *name) {
  size_t length = strlen(name);
  struct stat facts;
  if (folder->path_bytes + length + 1 >= sizeof path) return false;
  if (fstatat(dirfd(folder->stream), name, &facts, AT_SYMLINK_NOFOLLOW) < 0) return false;
  size_t path_bytes = folder->path_bytes + length;
  memcpy(path + folder->path_bytes, name, length);
  if (S_ISREG(facts.st_mode)) return emit_listed((uint64_t)facts.st_size, path_bytes);
  if (!S_ISDIR(facts.st_mode)) return true; /* links, pipes, sockets and devices are not collected */
  path[path_bytes] = '/';
  return enter(open_inside(dirfd(folder->stream), name, O_RDONLY | O_DIRECTORY), path_bytes + 1);
}

/* Depth first, without recursion. False when something was left out. */
static bool walk(void) {
  bool complete = true;
  while (depth > 0) {
    const struct folder *folder = &folders[depth - 1];
    errno = 0;
    const struct dirent *entry = readdir(folder->stream);
    if (!entry) {
      if (errno != 0) complete = false;
      closedir(folder->stream);
      depth--;
      continue;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (++entries > ENTRIES_MAX) return false;
    if (!take_entry(folder, entry->d_name)) complete = false;
  }
  return complete;
}

/* Lists one argument: a file, a folder with everything in it, or nothing. */
static bool list_below(const char *start) {
  size_t length = strcmp(start, ".") == 0 ? 0 : strlen(start);
  struct stat facts;
  if (length + 1 >= sizeof path) return false;
  memcpy(path, start, length);
  int fd = open_inside(AT_FDCWD, start, O_PATH);
  /*
   * The folder does not exist, or its path contains a file or a link. Then there is nothing to collect, and nothing
   * counts as left out.
   */
  if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
  bool known = fstat(fd, &facts) == 0;
  close(fd);
  if (!known) return false;
  if (S_ISREG(facts.st_mode)) return emit_listed((uint64_t)facts.st_size, length);
  if (!S_ISDIR(facts.st_mode)) return true;
  if (length > 0) path[length++] = '/';
  return enter(open_inside(AT_FDCWD, start, O_RDONLY | O_DIRECTORY), length) && walk();
}

static bool list(char *const starts[]) {
  bool complete = true;
  for (size_t i = 0; starts[i]; i++) {
    if (!list_below(starts[i])) complete = false;
    if (entries > ENTRIES_MAX) return true;
  }
  return !complete || emit_listed(0, 0);
}

/* ---- read ---- */

static bool emit_file(uint64_t size) {
  static uint8_t piece[64 << 10];
  struct stat facts;
  int fd = open_inside(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY); /* no longer a regular file, perhaps */
  if (fd < 0) return emit_word((uint32_t)errno);
  bool regular = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  bool emitted = emit_word(regular ? 0 : EINVAL);
  while (emitted && regular && size > 0) {
    ssize_t count = read(fd, piece, size < sizeof piece ? (size_t)size : sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break; /* the file has shrunk; the host notices the missing bytes */
    emitted = emit_word((uint32_t)count) && emit(piece, (size_t)count);
    size -= (uint64_t)count;
  }
  close(fd);
  return emitted && (!regular || emit_word(0));
}

static bool read_listed(void) {
  uint8_t head[LISTED_BYTES];
  while (read_exactly(STDIN_FILENO, head, sizeof head)) {
    struct reader reader = reader_of(head, sizeof head);
    uint64_t size = take_u64(&reader);
    uint32_t length = take_u32(&reader);
    if (length == 0 || length >= sizeof path || !read_exactly(STDIN_FILENO, path, length)) return false;
    path[length] = 0;
    if (!emit_file(size)) return false;
  }
  return true;
}

/* Returns the exit code. The working folder is the root of everything. */
int collect_files(const char *what, char *const arguments[]) {
  static char buffer[64 << 10];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  bool worked = strcmp(what, "list") == 0 ? list(arguments) : strcmp(what, "read") == 0 && read_listed();
  return fflush(stdout) == 0 && worked ? 0 : 1;
}
