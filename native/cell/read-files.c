/*
 * Reading files of the workspace for the host. It runs as a guest: forked from pid 1, with the guest's ids, Landlock
 * and seccomp, so that whatever guest code has prepared (links, pipes, devices, races), nothing is reached that the
 * guest could not reach itself. Links are never followed; only regular files count.
 *
 * list:  for each file `u32 mode, u64 size, u32 length, path`; then `u32 UINT32_MAX` if all of them were listed.
 * read:  for each path in argv `u32 errno` (0: it follows), and then pieces `u32 length, bytes` up to one of length 0.
 */
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  DEPTH_MAX = 64,       /* folders in one another; also open descriptors at one time */
  ENTRIES_MAX = 100000, /* looked at, files or not */
  PATH_BYTES_MAX = 4096,
};

struct folder {
  DIR *stream;
  size_t path_bytes; /* length of the path up to and including its slash */
};

static bool write_listed(const struct stat *facts, const char *path, size_t length) {
  uint8_t head[16];
  put_u32(head, facts->st_mode & 07777);
  put_u64(head + 4, (uint64_t)facts->st_size);
  put_u32(head + 12, (uint32_t)length);
  return write_exactly(STDOUT_FILENO, head, sizeof head) && write_exactly(STDOUT_FILENO, path, length);
}

static DIR *open_folder_at(int parent, const char *name) {
  int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *stream = fd < 0 ? NULL : fdopendir(fd);
  if (fd >= 0 && !stream) close(fd);
  return stream;
}

/* Depth first, without recursion. False when something was left out. */
static bool list_files(void) {
  static struct folder folders[DEPTH_MAX];
  static char path[PATH_BYTES_MAX];
  size_t depth = 0;
  size_t entries = 0;
  bool complete = true;
  folders[0] = (struct folder){.stream = open_folder_at(AT_FDCWD, "."), .path_bytes = 0};
  if (!folders[0].stream) return false;
  for (depth = 1; depth > 0;) {
    struct folder *folder = &folders[depth - 1];
    struct dirent *entry = readdir(folder->stream);
    if (!entry) {
      closedir(folder->stream);
      depth--;
      continue;
    }
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    size_t length = strlen(name);
    struct stat facts;
    if (++entries > ENTRIES_MAX) return false;
    if (folder->path_bytes + length + 1 >= sizeof path) {
      complete = false;
      continue;
    }
    if (fstatat(dirfd(folder->stream), name, &facts, AT_SYMLINK_NOFOLLOW) < 0) continue;
    memcpy(path + folder->path_bytes, name, length);
    if (S_ISREG(facts.st_mode)) {
      if (!write_listed(&facts, path, folder->path_bytes + length)) return false;
    } else if (S_ISDIR(facts.st_mode)) {
      DIR *stream = depth < DEPTH_MAX ? open_folder_at(dirfd(folder->stream), name) : NULL;
      if (!stream) {
        complete = false;
        continue;
      }
      path[folder->path_bytes + length] = '/';
      folders[depth++] = (struct folder){.stream = stream, .path_bytes = folder->path_bytes + length + 1};
    }
  }
  return complete;
}

/* Opens a regular file by a path relative to the working folder, no component of which is a link. */
static int open_regular(const char *path) {
  int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (folder >= 0) {
    char component[256];
    size_t length = strcspn(path, "/");
    bool last = path[length] == 0;
    if (length == 0 || length >= sizeof component) {
      close(folder);
      errno = EINVAL;
      return -1;
    }
    memcpy(component, path, length);
    component[length] = 0;
    /* Non-blocking: a pipe in the file's place must not hold us up. */
    int flags = O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY);
    int next = openat(folder, component, flags);
    int error = errno;
    close(folder);
    errno = error;
    folder = next;
    if (last) break;
    path += length + 1;
  }
  struct stat facts;
  if (folder >= 0 && (fstat(folder, &facts) < 0 || !S_ISREG(facts.st_mode))) {
    close(folder);
    errno = EINVAL;
    return -1;
  }
  return folder;
}

static bool write_word(uint32_t word) {
  uint8_t bytes[4];
  put_u32(bytes, word);
  return write_exactly(STDOUT_FILENO, bytes, sizeof bytes);
}

static bool read_file(const char *path) {
  static uint8_t piece[64 << 10];
  int fd = open_regular(path);
  if (fd < 0) return write_word((uint32_t)errno);
  if (!write_word(0)) return false;
  for (;;) {
    ssize_t count = read(fd, piece, sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) count = 0;
    if (!write_word((uint32_t)count)) return false;
    if (count == 0) break;
    if (!write_exactly(STDOUT_FILENO, piece, (size_t)count)) return false;
  }
  close(fd);
  return true;
}

/* Returns the exit code. argv[0] names the job; the working folder is the root of everything. */
int read_files(char *const argv[]) {
  if (strcmp(argv[0], "list") == 0) return list_files() && write_word(UINT32_MAX) ? 0 : 1;
  if (strcmp(argv[0], "read") != 0) return 2;
  for (size_t i = 1; argv[i]; i++) {
    if (!read_file(argv[i])) return 1;
  }
  return 0;
}
