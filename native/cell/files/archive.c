/*
 * A folder of the sandbox as a stream of records, which the host turns into a tar and back. A file's content follows
 * its record. When packing, the content is pieces of `u32 length, bytes`, the last of them empty, because the file may
 * end early. When unpacking, it is `size` bytes.
 *
 * unpack: no component of a path may be a link, so no entry can redirect a later one; and nothing is written through an
 * existing file: it is replaced.
 */
#include "files/archive.h"
#include "frames.h"
#include "files/paths.h"
#include "files/records.h"
#include "files/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t piece[PIECE_BYTES];

/* ---- pack ---- */

static uint64_t entries_left;

static bool emit_content(int fd, uint64_t size) {
  while (size > 0) {
    ssize_t count = read(fd, piece, size < sizeof piece ? (size_t)size : sizeof piece);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break; /* the file has shrunk; the host notices the missing bytes */
    if (!emit_word((uint32_t)count) || !emit(piece, (size_t)count)) return false;
    size -= (uint64_t)count;
  }
  return emit_word(0);
}

static bool count_entry(const struct entry *entry) {
  errno = E2BIG;
  return entries_left-- > 0 || refuse("count", entry->path);
}

static bool pack_unreadable(const struct entry *entry) {
  struct stat facts = {.st_size = errno};
  if (!is_met(entry) && !count_entry(entry)) return false;
  return emit_record(RECORD_UNREADABLE, &facts, entry->path, "");
}

static bool pack_file(const struct entry *entry) {
  struct stat facts;
  int fd = open_regular(entry->folder, entry->name, O_RDONLY | O_NOFOLLOW, &facts);
  if (fd < 0) return errno == ENOENT || pack_unreadable(entry);
  bool emitted = emit_record(RECORD_FILE, &facts, entry->path, "") && emit_content(fd, (uint64_t)facts.st_size);
  close(fd);
  return emitted;
}

static bool pack_entry(const struct entry *entry) {
  char target[TARGET_BYTES_MAX] = "";
  if (!count_entry(entry)) return false;
  if (S_ISREG(entry->facts.st_mode)) return pack_file(entry);
  if (S_ISLNK(entry->facts.st_mode) && readlinkat(entry->folder, entry->name, target, sizeof target - 1) < 0) return true;
  return emit_record(kind_of(entry->facts.st_mode), &entry->facts, entry->path, target);
}

bool pack_folder(char *const arguments[]) {
  const struct walk walk = {.deep = true, .meet = pack_entry, .miss = pack_unreadable};
  entries_left = strtoull(arguments[1], NULL, 10);
  int root = open(arguments[0], O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (root < 0) return refuse("open", arguments[0]);
  return walk_tree(root, &walk) && emit_end(true);
}

/* ---- unpack ---- */

struct record {
  uint8_t kind;
  mode_t mode;
  int64_t modified_ms;
  uint64_t size;
  char path[TREE_PATH_BYTES_MAX + 1];
  char target[TREE_PATH_BYTES_MAX + 1];
};

static bool take_exactly(void *bytes, size_t length) { return fread(bytes, 1, length, stdin) == length; }

static bool take_text(char text[TREE_PATH_BYTES_MAX + 1]) {
  uint8_t head[4];
  if (!take_exactly(head, sizeof head)) return false;
  struct reader reader = reader_of(head, sizeof head);
  uint32_t length = take_u32(&reader);
  if (length > TREE_PATH_BYTES_MAX || !take_exactly(text, length)) return false;
  text[length] = 0;
  return true;
}

static bool take_record(struct record *record) {
  uint8_t head[21];
  if (!take_exactly(head, sizeof head)) return false;
  struct reader reader = reader_of(head + 1, sizeof head - 1);
  record->kind = head[0];
  record->mode = take_u32(&reader) & 0777; /* an archive must not make programs run as another user */
  record->modified_ms = (int64_t)take_u64(&reader);
  record->size = take_u64(&reader);
  return take_text(record->path) && take_text(record->target);
}

/* Opens the folder of a path, creating missing ones, and puts the last component into `name`. The path is unchanged. */
static int open_parent(int base, char *path, bool makes, const char **name) {
  int folder = fcntl(base, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  char *slash = NULL;
  for (; folder >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
    *slash = 0;
    int next = open_inside(folder, path, O_PATH | O_DIRECTORY);
    if (next < 0 && errno == ENOENT && makes && (mkdirat(folder, path, 0777) == 0 || errno == EEXIST)) {
      next = open_inside(folder, path, O_PATH | O_DIRECTORY);
    }
    int error = errno;
    *slash = '/';
    close(folder);
    errno = error;
    folder = next;
  }
  *name = path;
  return folder;
}

static bool take_content(int fd, uint64_t size) {
  while (size > 0) {
    size_t length = size < sizeof piece ? (size_t)size : sizeof piece;
    errno = EPIPE;
    if (!take_exactly(piece, length) || !write_exactly(fd, piece, length)) return false;
    size -= length;
  }
  return true;
}

static bool put_regular(int folder, const char *name, const struct record *record) {
  const struct timespec modified = {
      .tv_sec = record->modified_ms / 1000,
      .tv_nsec = record->modified_ms % 1000 * 1000000,
  };
  const struct timespec times[2] = {modified, modified};
  int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  if (take_content(fd, record->size) && fchmod(fd, record->mode) == 0 && futimens(fd, times) == 0) return close(fd) == 0;
  int error = errno;
  close(fd);
  (void)unlinkat(folder, name, 0);
  errno = error;
  return false;
}

/* The owner always gets full access, so that the rest of the archive can be put into the folder. */
static bool put_folder(int folder, const char *name, const struct record *record) {
  if (mkdirat(folder, name, 0700) < 0 && errno != EEXIST) return false;
  int fd = open_inside(folder, name, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;
  bool put = fchmod(fd, record->mode | 0700) == 0;
  close(fd);
  return put;
}

static bool put_hard_link(int base, int folder, const char *name, struct record *record) {
  const char *other = NULL;
  struct stat facts;
  int parent = open_parent(base, record->target, false, &other);
  if (parent < 0) return false;
  bool put = fstatat(parent, other, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode) &&
             linkat(parent, other, folder, name, 0) == 0;
  int error = errno;
  close(parent);
  errno = error;
  return put;
}

static bool put_named(int base, int folder, const char *name, struct record *record) {
  errno = EINVAL;
  if (*name == 0 || strlen(name) > NAME_BYTES || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return false;
  if (record->kind == RECORD_FOLDER) return put_folder(folder, name, record);
  if (unlinkat(folder, name, 0) < 0 && errno != ENOENT) return false;
  if (record->kind == RECORD_FILE) return put_regular(folder, name, record);
  if (record->kind == RECORD_LINK) return symlinkat(record->target, folder, name) == 0;
  if (record->kind == RECORD_HARD_LINK) return put_hard_link(base, folder, name, record);
  errno = EINVAL;
  return false;
}

static bool put_record(int base, struct record *record) {
  const char *name = NULL;
  int folder = open_parent(base, record->path, true, &name);
  if (folder < 0) return refuse("enter", record->path);
  bool put = put_named(base, folder, name, record) || refuse("put", record->path);
  close(folder);
  return put;
}

bool unpack_folder(char *const arguments[]) {
  static struct record record;
  static char buffer[PIECE_BYTES];
  setvbuf(stdin, buffer, _IOFBF, sizeof buffer);
  if (!make_folders(arguments[0], true)) return refuse("make", arguments[0]);
  int base = open(arguments[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (base < 0) return refuse("open", arguments[0]);
  while (take_record(&record)) {
    if (record.kind == RECORD_END) return true;
    if (!put_record(base, &record)) return false;
  }
  errno = EPIPE;
  return refuse("receive", arguments[0]);
}
