/*
 * Walks a tree that a guest may be changing: depth first, without recursion, by descriptors, following no link and
 * entering no other file system. Files that vanish in the meantime count as missing.
 */
#include "files/walk.h"
#include "files/paths.h"
#include "files/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSES_MAX = 64 }; /* over one folder that guests refill while it is being emptied */

struct level {
  DIR *stream;
  size_t path_bytes; /* of the path up to and including its slash */
  int passes;
};

static struct level levels[TREE_DEPTH_MAX];
static size_t depth;
static char path[TREE_PATH_BYTES_MAX + 1];

/* Takes ownership of the descriptor. */
static bool enter(int fd, size_t path_bytes) {
  DIR *stream = fdopendir(fd);
  if (!stream) {
    close(fd);
    return false;
  }
  levels[depth++] = (struct level){.stream = stream, .path_bytes = path_bytes};
  return true;
}

bool is_met(const struct entry *entry) { return entry->facts.st_mode != 0; }

static bool vanished(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

static bool descend(const struct entry *entry, size_t path_bytes, const struct walk *walk) {
  errno = EOVERFLOW;
  if (depth == TREE_DEPTH_MAX) return refuse("depth", path);
  int fd = open_inside(entry->folder, entry->name, O_RDONLY | O_DIRECTORY);
  if (fd < 0 && vanished(errno)) return true;
  if (fd < 0) return walk->miss(entry);
  path[path_bytes] = '/';
  return enter(fd, path_bytes + 1) || refuse("enter", path);
}

static bool take_entry(const struct level *level, const char *name, const struct walk *walk) {
  size_t length = strlen(name);
  struct entry entry = {.folder = dirfd(level->stream), .name = path + level->path_bytes, .path = path};
  if (length > NAME_BYTES) return true; /* no Linux file system has a longer name */
  memcpy(path + level->path_bytes, name, length + 1);
  if (fstatat(entry.folder, name, &entry.facts, AT_SYMLINK_NOFOLLOW) < 0) return vanished(errno) || walk->miss(&entry);
  if (!walk->meet(&entry)) return false;
  if (!walk->deep || !S_ISDIR(entry.facts.st_mode)) return true;
  return descend(&entry, level->path_bytes + length, walk);
}

/* The innermost folder is finished. */
static bool leave(const struct walk *walk) {
  struct level *level = &levels[depth - 1];
  if (depth == 1 || !walk->empty) {
    closedir(level->stream);
    depth--;
    return true;
  }
  const struct level *parent = level - 1;
  path[level->path_bytes - 1] = 0;
  errno = 0;
  bool emptied = walk->empty(dirfd(parent->stream), path + parent->path_bytes, path);
  if (!emptied && errno == ENOTEMPTY && ++level->passes < PASSES_MAX) {
    path[level->path_bytes - 1] = '/';
    rewinddir(level->stream);
    return true;
  }
  int error = errno;
  closedir(level->stream);
  depth--;
  errno = error;
  return emptied || refuse("remove", path);
}

bool walk_tree(int root, const struct walk *walk) {
  depth = 0;
  if (!enter(root, 0)) return refuse("enter", "");
  while (depth > 0) {
    const struct level *level = &levels[depth - 1];
    errno = 0;
    const struct dirent *entry = readdir(level->stream);
    if (!entry) {
      if (errno != 0) return refuse("enter", path);
      if (!leave(walk)) return false;
      continue;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (!take_entry(level, entry->d_name, walk)) return false;
  }
  return true;
}

/* ---- list ---- */

static uint64_t entries_left;
static bool too_many;

static bool count_entry(void) {
  if (entries_left-- > 0) return true;
  too_many = true;
  return false;
}

static bool tell_unreadable(const struct entry *entry) {
  if (errno == EXDEV) return true; /* another file system is named and not entered */
  struct stat facts = {.st_size = errno};
  if (!is_met(entry) && !count_entry()) return false;
  return emit_record(RECORD_UNREADABLE, &facts, entry->path, "");
}

static bool tell_entry(const struct entry *entry) {
  char target[TARGET_BYTES_MAX] = "";
  if (!count_entry()) return false;
  if (S_ISLNK(entry->facts.st_mode)) (void)!readlinkat(entry->folder, entry->name, target, sizeof target - 1);
  return emit_record(kind_of(entry->facts.st_mode), &entry->facts, entry->path, target);
}

bool list_folder(char *const arguments[]) {
  const struct walk walk = {.deep = arguments[1][0] == '1', .meet = tell_entry, .miss = tell_unreadable};
  entries_left = strtoull(arguments[2], NULL, 10);
  int root = open(arguments[0], O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
  if (root < 0) return refuse("open", arguments[0]);
  return (walk_tree(root, &walk) || too_many) && emit_end(!too_many);
}

/* ---- delete ---- */

static bool remove_entry(const struct entry *entry) {
  if (S_ISDIR(entry->facts.st_mode)) return true; /* removed later, once it is empty */
  return unlinkat(entry->folder, entry->name, 0) == 0 || errno == ENOENT || refuse("remove", entry->path);
}

static bool refuse_entry(const struct entry *entry) { return refuse("enter", entry->path); }

static bool remove_emptied(int folder, const char *name, const char *whole) {
  (void)whole;
  return unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* A mount point, or the folder in which paths begin, cannot be removed, so nothing in it is removed. */
static bool can_go(int root) {
  struct stat own;
  struct stat above;
  struct stat workspace;
  if (fstat(root, &own) < 0 || fstatat(root, "..", &above, 0) < 0 || stat(".", &workspace) < 0) return false;
  bool is_workspace = own.st_dev == workspace.st_dev && own.st_ino == workspace.st_ino;
  errno = EBUSY;
  return own.st_dev == above.st_dev && own.st_ino != above.st_ino && !is_workspace;
}

static bool delete_folder(const char *folder) {
  const struct walk walk = {.deep = true, .meet = remove_entry, .miss = refuse_entry, .empty = remove_emptied};
  for (int passes = 0; passes < PASSES_MAX; passes++) {
    int root = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (root < 0) return refuse("enter", folder);
    if (!can_go(root)) return refuse("remove", folder);
    if (!walk_tree(root, &walk)) return false;
    if (rmdir(folder) == 0) return true;
    if (errno != ENOTEMPTY) break;
  }
  return refuse("remove", folder);
}

bool delete_path(char *const arguments[]) {
  const char *target = arguments[0];
  struct stat facts;
  if (lstat(target, &facts) < 0) return refuse("look", target);
  if (!S_ISDIR(facts.st_mode)) return unlink(target) == 0 || refuse("remove", target);
  errno = EISDIR;
  return arguments[1][0] == '1' ? delete_folder(target) : refuse("remove", target);
}
