/*
 * Mounts: the cell's whole view of files, built on a tmpfs from descriptors that were opened on the host, then made the
 * root. Targets are relative to the new root until `pivot`, absolute afterwards. Every target is on our own tmpfs:
 * nothing is ever created below a folder that guest code could have written to.
 */
#include "build/mounts.h"
#include "build/own_view.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

void step_private(struct reader *record) {
  require_whole(record);
  check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "make the mounts private");
}

void step_root(struct reader *record) {
  const char *at = take_string(record);
  const char *options = take_string(record);
  const char *inside = take_string(record);
  require_whole(record);
  check(mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, options), "mount the root tmpfs");
  check(chdir(at), "enter the root tmpfs");
  check(mkdir(inside, 0755), "make the cell's root");
  check(chdir(inside), "enter the cell's root");
}

void step_directory(struct reader *record) {
  const char *path = take_string(record);
  mode_t mode = take_u32(record);
  require_whole(record);
  check(mkdir(path, mode), "make a folder");
  if (mode & UMASK) check(chmod(path, mode), "set a folder's mode");
}

void step_file(struct reader *record) {
  const char *path = take_string(record);
  mode_t mode = take_u32(record);
  uint32_t length = 0;
  const uint8_t *content = take_bytes(record, &length);
  require_whole(record);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  check(fd, "make a file");
  if (!write_exactly(fd, content, length)) fail("write a file");
  check(close(fd), "close a file");
}

void step_symlink(struct reader *record) {
  const char *target = take_string(record);
  const char *path = take_string(record);
  require_whole(record);
  check(symlink(target, path), "make a link");
}

static int set_mount_attributes(int fd, const char *path, uint64_t attributes, bool recursive) {
  /* Private: otherwise mounts that the host makes later below a source would appear inside. */
  struct mount_attr attr = {.attr_set = attributes, .propagation = MS_PRIVATE};
  unsigned flags = (recursive ? AT_RECURSIVE : 0) | (*path ? 0 : AT_EMPTY_PATH);
  return (int)syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof attr);
}

/*
 * Takes a detached copy of a mount, before our own mounts can cover its path. If root started this program, the stub does
 * so as root, in the host's namespace, because a toolchain may lie below a folder that only its owner may enter. If
 * another user did, it happens in the new namespace, where that user may mount.
 */
void step_open_tree(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  uint64_t attributes = take_u64(record);
  require_whole(record);
  int found = find_real_path(path);
  check(found, "clone a bind's source");
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;
  int tree = (int)syscall(SYS_open_tree, found, "", flags);
  check(tree, "clone a bind's source");
  check(close(found), "close a bind's source");
  check(set_mount_attributes(tree, "", attributes, true), "restrict a bind");
  keep_in_slot(slot, tree);
}

void step_bind(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  require_whole(record);
  int tree = take_from_slot(slot);
  check(syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), "attach a bind");
  check(close(tree), "close a bind");
}

void step_mount(struct reader *record) {
  const char *type = take_string(record);
  const char *target = take_string(record);
  uint64_t flags = take_u64(record);
  const char *options = take_string(record);
  require_whole(record);
  check(mount(type, target, type, flags, options), "mount a file system");
}

enum { PARTS_MAX = 8 };

struct part {
  const char *name;
  mode_t mode;
  const char *path; /* where it is mounted as well, or empty */
};

/*
 * Makes the folders with their owner's ids, because pid 1 may not change owners. A separate process does so, because a
 * process that changes its ids, even for a moment, no longer dies with its parent (PR_SET_PDEATHSIG). vfork lends that
 * process our memory: a copy of it would cost more than the folders.
 */
static void make_folders(int root, const struct part *parts, uint32_t count, uid_t uid, gid_t gid) {
  int status = 0;
  pid_t owner = vfork();
  check(owner, "fork the owner of a tmpfs's parts");
  if (owner == 0) {
    (void)setfsgid(gid);
    (void)setfsuid(uid);
    for (uint32_t i = 0; i < count; i++) {
      check(mkdirat(root, parts[i].name, parts[i].mode), "make a part of a tmpfs");
      if (parts[i].mode & UMASK) check(fchmodat(root, parts[i].name, parts[i].mode, 0), "set the mode of a part");
    }
    _exit(0);
  }
  while (waitpid(owner, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) _exit(1); /* the owner has reported why */
}

static void show_part(int root, const struct part *part) {
  if (!*part->path) return;
  int tree = (int)syscall(SYS_open_tree, root, part->name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
  check(tree, "take a part of a tmpfs");
  check(syscall(SYS_move_mount, tree, "", AT_FDCWD, part->path, MOVE_MOUNT_F_EMPTY_PATH), "attach a part of a tmpfs");
  check(close(tree), "close a part of a tmpfs");
}

/* One tmpfs whose folders share its size and are mounted at separate paths. It is new: no guest has changed it. */
void step_divided_tmpfs(struct reader *record) {
  struct part parts[PARTS_MAX] = {0};
  const char *at = take_string(record);
  uint64_t flags = take_u64(record);
  const char *options = take_string(record);
  uint32_t uid = take_u32(record);
  uint32_t gid = take_u32(record);
  uint32_t count = take_u32(record);
  errno = EPROTO;
  if (count > PARTS_MAX) fail("divide a tmpfs");
  for (uint32_t i = 0; i < count; i++) {
    parts[i].name = take_string(record);
    parts[i].mode = take_u32(record);
    parts[i].path = take_string(record);
  }
  require_whole(record);
  check(mount("tmpfs", at, "tmpfs", flags, options), "mount a tmpfs of parts");
  int root = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(root, "enter a tmpfs of parts");
  make_folders(root, parts, count, uid, gid);
  for (uint32_t i = 0; i < count; i++) show_part(root, &parts[i]);
  check(close(root), "leave a tmpfs of parts");
}

void step_pivot(struct reader *record) {
  require_whole(record);
  leave_view();
  check(chdir(".."), "leave the cell's root");
  check(syscall(SYS_pivot_root, ".", "."), "make the tmpfs the root");
  check(umount2(".", MNT_DETACH), "detach the host's files");
  check(chdir("/"), "enter the new root");
}

/* Hides a file of /proc. A file that this kernel lacks needs no hiding. */
void step_mask(struct reader *record) {
  const char *path = take_string(record);
  require_whole(record);
  if (mount("/dev/null", path, NULL, MS_BIND, NULL) < 0 && errno != ENOENT) fail("hide a file");
}

void step_read_only(struct reader *record) {
  const char *path = take_string(record);
  uint64_t attributes = take_u64(record);
  require_whole(record);
  if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) < 0) {
    if (errno == ENOENT) return;
    fail("bind a path onto itself");
  }
  check(set_mount_attributes(AT_FDCWD, path, attributes, true), "make a path read-only");
}

void step_set_attributes(struct reader *record) {
  const char *path = take_string(record);
  uint64_t attributes = take_u64(record);
  require_whole(record);
  check(set_mount_attributes(AT_FDCWD, path, attributes, false), "restrict a mount");
}

/*
 * Enters the cell's root, a folder of the new root, by chroot: the kernel refuses new user namespaces to a chrooted
 * process (create_user_ns), whatever seccomp says. Everything that pid 1 starts is in it.
 */
void step_root_guard(struct reader *record) {
  const char *path = take_string(record);
  require_whole(record);
  check(chroot(path), "enter the cell's root");
  check(chdir("/"), "enter the cell's root");
}
