/*
 * Bringing files of the workspace back to the host. A fork of pid 1 that is confined like every guest (ids, Landlock,
 * seccomp) and executes this instead of a program, when no guest is alive any more. Whatever guest code has prepared,
 * it reaches nothing that guests could not reach: no component of a path may be a link, and only regular files count.
 *
 * list: walks the paths in its arguments. For each file and each empty folder `u64 size, u32 mode, u32 length, path`. What
 * cannot be listed has no mode, and its errno as the size. At the end an empty entry.
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
  LISTED_BYTES = 16,     /* u64 size, u32 mode, u32 length */
  WANTED_BYTES = 12,     /* u64 size, u32 length */
};

struct folder {
  DIR *stream;
  mode_t mode;
  size_t path_bytes; /* length of the path up to and including its slash */
  bool used;
};

static struct folder folders[DEPTH_MAX];
static size_t depth;
static char path[PATH_BYTES_MAX];
static size_t entries;

/* ---- list: each function returns false only if the listing cannot be written ---- */

static bool emit_listed(uint64_t size, mode_t mode, size_t path_bytes) {
  uint8_t head[LISTED_BYTES];
  put_u64(head, size);
  put_u32(head + 8, (uint32_t)mode);
  put_u32(head + 12, (uint32_t)path_bytes);
  return emit(head, sizeof head) && emit(path, path_bytes);
}

static bool leave_out(int error, size_t path_bytes) {
  if (path_bytes == 0) path[path_bytes++] = '.';
  return emit_listed((uint64_t)error, 0, path_bytes);
}

/* Without the slash. */
static size_t own_path_bytes(const struct folder *folder) {
  return folder->path_bytes == 0 ? 0 : folder->path_bytes - 1;
}

/* Takes ownership of the descriptor. */
static bool enter(int fd, struct folder folder) {
  if (fd >= 0 && depth < DEPTH_MAX) folder.stream = fdopendir(fd);
  int error = fd >= 0 && depth == DEPTH_MAX ? ENAMETOOLONG : errno;
  if (folder.stream) folders[depth++] = folder;
  else if (fd >= 0) close(fd);
  return folder.stream || leave_out(error, own_path_bytes(&folder));
}

/* One entry of the innermost folder. */
static bool take_entry(const struct folder *folder, const char *name) {
  size_t length = strlen(name);
  struct stat facts;
  if (folder->path_bytes + length + 1 >= sizeof path) return leave_out(ENAMETOOLONG, own_path_bytes(folder));
  size_t path_bytes = folder->path_bytes + length;
  memcpy(path + folder->path_bytes, name, length);
  if (fstatat(dirfd(folder->stream), name, &facts, AT_SYMLINK_NOFOLLOW) < 0) return leave_out(errno, path_bytes);
  if (!S_ISDIR(facts.st_mode)) return emit_listed((uint64_t)facts.st_size, facts.st_mode, path_bytes);
  path[path_bytes] = '/';
  return enter(open_inside(dirfd(folder->stream), name, O_RDONLY | O_DIRECTORY),
               (struct folder){.mode = facts.st_mode, .path_bytes = path_bytes + 1});
}

static bool leave_folder(const struct folder *folder, int error) {
  closedir(folder->stream);
  depth--;
  if (error != 0) return leave_out(error, own_path_bytes(folder));
  return folder->used || folder->path_bytes == 0 || emit_listed(0, folder->mode, own_path_bytes(folder));
}

/* Depth first, without recursion. */
static bool walk(void) {
  while (depth > 0) {
    struct folder *folder = &folders[depth - 1];
    errno = 0;
    const struct dirent *entry = readdir(folder->stream);
    if (!entry) {
      if (!leave_folder(folder, errno)) return false;
      continue;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (++entries > ENTRIES_MAX) return leave_out(E2BIG, own_path_bytes(folder));
    folder->used = true;
    if (!take_entry(folder, entry->d_name)) return false;
  }
  return true;
}

/* Lists one argument: a file, a folder with everything in it, or nothing. */
static bool list_below(const char *start) {
  size_t length = strcmp(start, ".") == 0 ? 0 : strlen(start);
  struct stat facts;
  if (length + 1 >= sizeof path) return leave_out(ENAMETOOLONG, 0);
  memcpy(path, start, length);
  int fd = open_inside(AT_FDCWD, start, O_PATH);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return true;
  if (fd < 0 && errno == ELOOP) return emit_listed(0, S_IFLNK, length);
  if (fd < 0) return leave_out(errno, length);
  bool known = fstat(fd, &facts) == 0;
  int error = errno;
  close(fd);
  if (!known) return leave_out(error, length);
  if (!S_ISDIR(facts.st_mode)) return emit_listed((uint64_t)facts.st_size, facts.st_mode, length);
  if (length > 0) path[length++] = '/';
  return enter(open_inside(AT_FDCWD, start, O_RDONLY | O_DIRECTORY),
               (struct folder){.mode = facts.st_mode, .path_bytes = length}) &&
         walk();
}

static bool list(char *const starts[]) {
  for (size_t i = 0; starts[i] && entries <= ENTRIES_MAX; i++)
    if (!list_below(starts[i])) return false;
  return emit_listed(0, 0, 0);
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
  uint8_t head[WANTED_BYTES];
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
