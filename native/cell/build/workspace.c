/*
 * A folder of the host that guests may write to, as their workspace. If the cell has its own ids, the mount is
 * idmapped: files of the folder's owner on disk belong to the guest inside, and no owner on disk ever changes. The
 * owner is never root, or a guest could leave programs behind that run as root.
 * Needs: Linux 5.12 and a file system that can be idmapped. Source: mount_setattr(2), user_namespaces(7).
 */
#include "build/workspace.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MOUNT_ATTR_IDMAP
#define MOUNT_ATTR_IDMAP 0x00100000
#endif

static void write_map(pid_t pid, const char *kind, unsigned on_disk, unsigned inside) {
  char path[64];
  char map[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, kind);
  int length = snprintf(map, sizeof map, "%u %u 1", on_disk, inside);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  check(fd, "map the workspace's owner");
  check(write(fd, map, (size_t)length) == length ? 0 : -1, "map the workspace's owner");
  close(fd);
}

/* Makes a user namespace without processes, for its maps alone. */
static int make_map(const struct stat *owner, uid_t uid, gid_t gid) {
  int sync[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync), "make the workspace's map");
  pid_t pid = fork();
  check(pid, "make the workspace's map");
  char byte = 0;
  if (pid == 0) {
    close(sync[0]);
    if (unshare(CLONE_NEWUSER) == 0 && write_exactly(sync[1], &byte, 1)) (void)read_exactly(sync[1], &byte, 1);
    _exit(0);
  }
  close(sync[1]);
  errno = EPERM;
  if (!read_exactly(sync[0], &byte, 1)) fail("make the workspace's map");
  write_map(pid, "uid_map", owner->st_uid, uid);
  write_map(pid, "gid_map", owner->st_gid, gid);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/ns/user", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  check(fd, "open the workspace's map");
  close(sync[0]);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return fd;
}

void step_open_workspace(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *path = take_string(record);
  uint32_t uid = take_u32(record); /* the guest's uid on the host; 0 if that is the owner already */
  uint32_t gid = take_u32(record);
  require_whole(record);
  int folder = find_real_path(path);
  check(folder, "take the workspace");
  int tree = (int)syscall(SYS_open_tree, folder, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  check(tree, "take the workspace");
  close(folder);
  struct stat owner;
  check(fstat(tree, &owner), "inspect the workspace");
  errno = ENOTDIR;
  if (!S_ISDIR(owner.st_mode)) fail("take the workspace");
  errno = EPERM;
  if (owner.st_uid == 0 || owner.st_gid == 0) fail("accept the workspace's owner");
  struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, .propagation = MS_PRIVATE};
  int map = -1;
  if (uid != 0) {
    map = make_map(&owner, uid, gid);
    attr.attr_set |= MOUNT_ATTR_IDMAP;
    attr.userns_fd = (unsigned)map;
  }
  check(syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr), "map the workspace");
  if (map >= 0) close(map);
  keep_in_slot(slot, tree);
}
