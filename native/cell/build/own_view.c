/*
 * The cell's own view of the host's folders: an overlay of one layer that is never written to. The pages of files are
 * the host's, so nothing is copied; the inodes are the cell's, so locks, watches, leases, times, and the sockets and
 * pipes in the folders are not shared.
 * Needs: Linux 5.11, where the owner of a user namespace may mount one. Source: the kernel's filesystems/overlayfs.rst.
 */
#include "build/own_view.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
  LAYERS_BYTES_MAX = 256,
  NO_EXECUTE_FLAG = 8, /* ST_NOEXEC of statfs(2) */
};

/* One mount without its submounts, because an overlay shows a single file system. Opened as early as step_open_tree. */
void step_open_lower(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  require_whole(record);
  int found = find_real_path(path);
  check(found, "take the lower layer of a view");
  int tree = (int)syscall(SYS_open_tree, found, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  check(tree, "take the lower layer of a view");
  check(close(found), "close the lower layer of a view");
  /* Private: where the host's mounts are shared, what is attached to this one would appear on the host's as well. */
  struct mount_attr attr = {.propagation = MS_PRIVATE};
  check(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr), "keep the lower layer of a view apart");
  keep_in_slot(slot, tree);
}

static void set_option(int context, const char *name, const char *value) {
  check(syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, name, value, 0), "describe a view");
}

/* The kernel refuses an overlay of a single layer, so an empty folder is the second one. */
static int make_overlay(const char *lower, const char *empty, unsigned attributes) {
  char layers[LAYERS_BYTES_MAX];
  int length = snprintf(layers, sizeof layers, "%s:%s", lower, empty);
  check(length < (int)sizeof layers ? 0 : -1, "name the layers of a view");
  int context = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
  check(context, "open overlayfs");
  set_option(context, "source", "view");
  set_option(context, "lowerdir", layers);
  check(syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "make a view");
  int view = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
  check(view, "mount a view");
  check(close(context), "close a view");
  return view;
}

/*
 * Attaches both mounts at `at`, a folder of the old root: before Linux 6.15 a layer, or a part of a view, cannot come
 * from a detached mount. `pivot` detaches the old root and both mounts with it, so guests never see them.
 */
void step_own_view(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *at = take_string(record);
  const char *empty = take_string(record);
  uint64_t attributes = take_u64(record);
  require_whole(record);
  leave_view(); /* this one will cover it */
  int tree = take_from_slot(slot);
  check(syscall(SYS_move_mount, tree, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH), "attach the lower layer of a view");
  check(close(tree), "close the lower layer of a view");
  struct statfs facts;
  check(statfs(at, &facts), "inspect the lower layer of a view");
  if (facts.f_flags & NO_EXECUTE_FLAG) attributes |= MOUNT_ATTR_NOEXEC; /* a new mount does not inherit it */
  int view = make_overlay(at, empty, (unsigned)attributes);
  check(syscall(SYS_move_mount, view, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH), "attach a view");
  check(close(view), "close a view");
}

/* A view has dozens of parts, so it stays open from the first to the last. */
static int enter_view(const char *at) {
  if (cell.view_fd > 0 && strcmp(cell.view_at, at) == 0) return cell.view_fd;
  leave_view();
  int view = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
  check(view, "enter a view");
  cell.view_fd = view;
  cell.view_at = at;
  return view;
}

void leave_view(void) {
  if (cell.view_fd > 0) check(close(cell.view_fd), "leave a view");
  cell.view_fd = 0;
}

/* Follows no link, like find_real_path: it could lead to a part of the view that this cell may not show. */
static int find_inside(const char *at, const char *source) {
  struct open_how how = {
      .flags = O_PATH | O_CLOEXEC,
      .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  int found = (int)syscall(SYS_openat2, enter_view(at), source, &how, sizeof how);
  check(found, "find a part of a view");
  return found;
}

void step_bind_own(struct reader *record) {
  const char *at = take_string(record);
  const char *source = take_string(record);
  const char *path = take_string(record);
  require_whole(record);
  int found = find_inside(at, source);
  int tree = (int)syscall(SYS_open_tree, found, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
  check(tree, "take a part of a view");
  check(syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH), "attach a part of a view");
  check(close(tree), "close a part of a view");
  check(close(found), "close a part of a view");
}
