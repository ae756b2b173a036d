/*
 * The run's folder on the host's disk. It has no file system of its own that would bound it and vanish with it. So its
 * contents are counted from time to time, and removed at the end. No link is ever followed.
 */
#include "watch/files/work.h"
#include "cell.h"
#include "frames.h"
#include "ids.h"
#include "record.h"
#include "watch/kill.h"
#include "watch/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const work_folders[WORK_FOLDERS] = {"workspace", "tmp"};

enum {
  DEPTH_MAX = 256,         /* nested folders, and descriptors open at one time, while counting */
  DESCENTS_MAX = 1 << 21,  /* folders entered while removing: one that cannot be removed must not block this process for ever */
  BLOCK_BYTES = 512,       /* the unit of st_blocks, whatever the file system */
  EMPTY_FOLDER_BYTES = 4096,
};

/* ---- counting, while guests are at work and move things about ---- */

struct tally {
  uint64_t bytes;
  uint64_t entries;
  bool too_deep;
};

/*
 * An empty folder costs nothing, as in a tmpfs, so that the same request fits at every level; the limit on entries bounds
 * their number. A folder's growth counts, because deleted names leave it large.
 */
static uint64_t bytes_of(const struct stat *facts) {
  uint64_t bytes = (uint64_t)facts->st_blocks * BLOCK_BYTES;
  if (!S_ISDIR(facts->st_mode)) return bytes;
  return bytes > EMPTY_FOLDER_BYTES ? bytes - EMPTY_FOLDER_BYTES : 0;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static DIR *open_folder(int parent, const char *name) {
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = openat(parent, name, flags);
  /* A guest cannot hide contents in an unreadable folder: this process owns it, or has the id of its owner. */
  int handle = fd < 0 && errno == EACCES ? openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (handle >= 0) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
    if (chmod(path, 0700) == 0) fd = openat(parent, name, flags);
    close(handle);
  }
  DIR *stream = fd < 0 ? NULL : fdopendir(fd);
  if (!stream && fd >= 0) close(fd);
  return stream;
}

static void count_folder(const char *name, struct tally *tally) {
  DIR *open[DEPTH_MAX];
  size_t depth = 0;
  open[0] = open_folder(AT_FDCWD, name);
  if (!open[0]) return;
  for (depth = 1; depth > 0;) {
    struct dirent *entry = readdir(open[depth - 1]);
    bool enough = tally->entries > cell.disk_entries || tally->bytes > cell.disk_bytes;
    if (!entry || enough) {
      closedir(open[--depth]);
      continue;
    }
    struct stat facts;
    if (is_dots(entry->d_name)) continue;
    if (fstatat(dirfd(open[depth - 1]), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) < 0) continue;
    tally->entries++;
    tally->bytes += bytes_of(&facts);
    if (!S_ISDIR(facts.st_mode)) continue;
    if (depth == DEPTH_MAX) {
      tally->too_deep = true;
      continue;
    }
    open[depth] = open_folder(dirfd(open[depth - 1]), entry->d_name);
    if (open[depth]) depth++;
  }
}

/* Files without a name live as long as a process has them open. */
static void count_deleted(long pid, dev_t device, struct tally *tally) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd", pid);
  DIR *folder = opendir(path);
  if (!folder) return; /* it ended meanwhile */
  for (struct dirent *entry; (entry = readdir(folder));) {
    struct stat facts;
    if (is_dots(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &facts, 0) < 0) continue;
    if (!S_ISREG(facts.st_mode) || facts.st_nlink > 0 || facts.st_dev != device) continue;
    tally->entries++;
    tally->bytes += (uint64_t)facts.st_blocks * BLOCK_BYTES;
  }
  closedir(folder);
}

static void raise_tally(struct tally *most, struct tally tally) {
  if (tally.bytes > most->bytes) most->bytes = tally.bytes;
  if (tally.entries > most->entries) most->entries = tally.entries;
  most->too_deep |= tally.too_deep;
}

/*
 * The larger of the two folders: the limit applies to each, as if each were a tmpfs. Files without a name count in both.
 */
static struct tally count_work(void) {
  struct tally deleted = {0};
  struct stat facts;
  static long pids[PROCESSES_MAX];
  size_t count = stat(cell.work, &facts) == 0 ? list_processes(pids, PROCESSES_MAX) : 0;
  for (size_t i = 0; i < count; i++) count_deleted(pids[i], facts.st_dev, &deleted);
  struct tally most = deleted;
  for (int i = 0; i < WORK_FOLDERS; i++) {
    struct tally tally = deleted;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", cell.work, work_folders[i]);
    if (length > 0 && (size_t)length < sizeof path) count_folder(path, &tally);
    raise_tally(&most, tally);
  }
  return most;
}

uint64_t work_bytes_over(void) {
  struct tally tally = count_work();
  bool over = tally.bytes > cell.disk_bytes || tally.entries > cell.disk_entries || tally.too_deep;
  return over ? (tally.bytes > 0 ? tally.bytes : 1) : 0;
}

bool work_is_full(void) {
  struct tally tally = count_work();
  return tally.bytes >= cell.disk_bytes || tally.entries >= cell.disk_entries || tally.too_deep;
}

/* ---- removing, when no guest should be alive; a live one could not redirect it ---- */

struct identity {
  dev_t device;
  ino_t inode;
};

/* The folder that is being emptied. Going up stops there, even if a folder was moved elsewhere in the meantime. */
static struct identity tops[1 + WORK_FOLDERS];

static struct identity identity_of(const char *name) {
  struct stat facts = {0};
  return lstat(name, &facts) == 0 ? (struct identity){facts.st_dev, facts.st_ino} : (struct identity){0, 0};
}

static bool is_top(void) {
  struct identity here = identity_of(".");
  if (here.inode == 0) return true;
  for (int i = 0; i < 1 + WORK_FOLDERS; i++) {
    if (tops[i].device == here.device && tops[i].inode == here.inode) return true;
  }
  return false;
}

static bool enter_folder(const char *name) {
  int handle = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (handle < 0) return false;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
  (void)chmod(path, 0700); /* its owner may have removed its own permission */
  bool entered = fchdir(handle) == 0;
  close(handle);
  return entered;
}

/* True when the folder is empty or nothing more can be done about it; false when it entered a folder below. */
static bool empty_or_enter(void) {
  for (bool removed = true; removed;) {
    DIR *folder = opendir(".");
    if (!folder) return true;
    removed = false;
    for (struct dirent *entry; (entry = readdir(folder));) {
      if (is_dots(entry->d_name)) continue;
      if (unlink(entry->d_name) == 0 || rmdir(entry->d_name) == 0) {
        removed = true;
        continue;
      }
      if (errno != ENOTEMPTY && errno != EEXIST) continue; /* not a folder, and cannot be removed */
      if (!enter_folder(entry->d_name)) continue;
      closedir(folder);
      return false;
    }
    closedir(folder);
  }
  return true;
}

static void empty_folder(const char *name) {
  if (!enter_folder(name)) return;
  for (uint32_t descents = 0; descents < DESCENTS_MAX;) {
    if (!empty_or_enter()) descents++;
    else if (is_top() || chdir("..") < 0) return;
  }
}

/* Removes with the guests' ids, so it can only remove what the guests could have removed themselves. */
static void empty_as_guest(void) {
  pid_t pid = fork();
  if (pid == 0) {
    if (!drop_to_guest_ids() || !drop_capabilities()) _exit(1);
    for (int i = 0; i < WORK_FOLDERS; i++) {
      if (chdir(cell.work) == 0) empty_folder(work_folders[i]);
    }
    _exit(0);
  }
  (void)reap_helper(pid);
}

void remove_work(void) {
  if (!cell.work || chdir(cell.work) < 0) return;
  tops[0] = identity_of(".");
  for (int i = 0; i < WORK_FOLDERS; i++) tops[1 + i] = identity_of(work_folders[i]);
  empty_as_guest();
  empty_folder(".");
  (void)rmdir(cell.work);
}

/* Removes what a dead launcher left behind: its own plan, after `guest-ids` if guests had their own ids. */
void step_remove(struct reader *record) {
  cell.work = take_string(record);
  bool ends_guests = take_u32(record) != 0; /* not if another cell may have their ids by now */
  require_whole(record);
  errno = EPROTO;
  if (*cell.work != '/') fail("read the work folder");
  if (ends_guests && cell.guest_changes_ids) (void)end_guests_by_uid();
  remove_work();
  _exit(0);
}
