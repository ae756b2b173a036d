/*
 * Mounts: the cell's whole view of files, built on a tmpfs from descriptors that were opened on the host, then
 * made the root. Targets are relative to the new root until `pivot`, absolute afterwards. Every target lies on
 * our own tmpfs: nothing is ever created below a folder that guest code could have written.
 */
#include "build/mounts.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
  require_whole(record);
  check(mount("tmpfs", at, "tmpfs", MS_NOSUID | MS_NODEV, options), "mount the root tmpfs");
  check(chdir(at), "enter the root tmpfs");
}

void step_directory(struct reader *record) {
  const char *path = take_string(record);
  mode_t mode = take_u32(record);
  require_whole(record);
  check(mkdir(path, mode), "make a folder");
  check(chmod(path, mode), "set a folder's mode");
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
  /* Private, or mounts that the host makes later below a source would appear inside. */
  struct mount_attr attr = {.attr_set = attributes, .propagation = MS_PRIVATE};
  unsigned flags = (recursive ? AT_RECURSIVE : 0) | (*path ? 0 : AT_EMPTY_PATH);
  return (int)syscall(SYS_mount_setattr, fd, path, flags, &attr, sizeof attr);
}

/*
 * Takes a detached copy of a mount, before any mount of ours can cover its path. Started by root this happens
 * while the stub is still root, in the host's namespace, because a toolchain may lie below a folder that only its
 * owner may enter; started by a user it happens in the new namespace, where that user may mount.
 */
void step_open_tree(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  uint64_t attributes = take_u64(record);
  require_whole(record);
  int tree = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  check(tree, "clone a bind's source");
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

void step_pivot(struct reader *record) {
  require_whole(record);
  check(syscall(SYS_pivot_root, ".", "."), "make the tmpfs the root");
  check(umount2(".", MNT_DETACH), "detach the host's files");
  check(chdir("/"), "enter the new root");
}

/* Hides a file of /proc. One that this kernel does not have needs no hiding. */
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
 * The guests' root is a bind of the root, entered by chroot: the kernel refuses new user namespaces to a caller
 * that is chrooted (create_user_ns), whatever seccomp says.
 */
void step_root_guard(struct reader *record) {
  const char *path = take_string(record);
  require_whole(record);
  check(mount("/", path, NULL, MS_BIND | MS_REC, NULL), "bind the guests' root");
  cell.guest_root = path;
}
