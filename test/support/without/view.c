/*
 * Files that look different only to the command, because all of this happens in its own mount namespace.
 */
#define _GNU_SOURCE
#include "without.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0444);
  check(fd, path);
  check(write(fd, text, strlen(text)), path);
  close(fd);
}

static void map_ids(pid_t pid, const char *uids, const char *gids) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
  if (geteuid() != 0) write_file(path, "deny"); /* otherwise the kernel refuses an ordinary user's gid map */
  snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
  write_file(path, uids);
  snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
  write_file(path, gids);
}

static const char *roots_ids = "4294967295";

/* Maps every id to itself. Root's map is written from outside, because from inside it could only map a single id. */
static void enter_user_namespace(void) {
  uid_t uid = geteuid();
  if (uid != 0) {
    char uids[64], gids[64];
    snprintf(uids, sizeof uids, "%u %u 1", uid, uid);
    snprintf(gids, sizeof gids, "%u %u 1", getegid(), getegid());
    check(unshare(CLONE_NEWUSER | CLONE_NEWNS), "make a user namespace");
    map_ids(getpid(), uids, gids);
    return;
  }
  int pair[2];
  pid_t outside = getpid();
  check(pipe2(pair, O_CLOEXEC), "pipe");
  pid_t mapper = fork();
  check(mapper, "fork");
  if (mapper == 0) {
    char byte = 0;
    close(pair[1]);
    char map[64];
    snprintf(map, sizeof map, "0 0 %.20s", roots_ids);
    if (read(pair[0], &byte, 1) == 1) map_ids(outside, map, map);
    _exit(0);
  }
  check(unshare(CLONE_NEWUSER | CLONE_NEWNS), "make a user namespace");
  check(write(pair[1], "x", 1), "ask for the maps");
  int status = 0;
  waitpid(mapper, &status, 0);
  errno = EPERM;
  if (status != 0 || geteuid() != 0) give_up("map the ids");
}

static bool is_private;

static void make_mounts_private(void) {
  is_private = true;
  check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "make the mounts private");
}

void enter_own_view(void) {
  if (is_private) return;
  if (geteuid() == 0) check(unshare(CLONE_NEWNS), "make a mount namespace");
  else enter_user_namespace();
  make_mounts_private();
}

/* As for root in a container with a user namespace. */
void forget_ids_from(const char *first) {
  roots_ids = first;
  enter_user_namespace();
  make_mounts_private();
}

/* Each user namespace has its own maximum, so it is set in a new one, after a check that the namespace is new. */
void refuse_beyond(const char *count) {
  char before[64] = "", after[64] = "";
  check(readlink("/proc/self/ns/user", before, sizeof before - 1), "/proc/self/ns/user");
  enter_user_namespace();
  make_mounts_private();
  check(readlink("/proc/self/ns/user", after, sizeof after - 1), "/proc/self/ns/user");
  errno = EPERM;
  if (strcmp(before, after) == 0) give_up("this is still the host's user namespace");
  write_file("/proc/sys/user/max_user_namespaces", count);
}

static void cover(const char *folder) {
  check(mount("tmpfs", folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=1m"), folder);
}

/* As Docker does without systempaths=unconfined. If /proc is partly covered, the kernel refuses new mounts of proc. */
void mask_proc(void) {
  enter_own_view();
  check(mount("/proc/sys", "/proc/sys", NULL, MS_BIND | MS_REC, NULL), "/proc/sys");
  check(mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), "/proc/sys");
  check(mount("/dev/null", "/proc/timer_list", NULL, MS_BIND, NULL), "/proc/timer_list");
  cover("/proc/fs");
}

void hide_cgroups(void) {
  enter_own_view();
  cover("/sys/fs/cgroup");
}

void make_cgroups_read_only(void) {
  enter_own_view();
  FILE *mounts = fopen("/proc/self/mountinfo", "re");
  if (mounts == NULL) give_up("/proc/self/mountinfo");
  char line[4096], point[1024];
  while (fgets(line, sizeof line, mounts) != NULL) {
    if (strstr(line, " - cgroup") == NULL || sscanf(line, "%*s %*s %*s %*s %1023s", point) != 1) continue;
    check(mount(NULL, point, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL), point);
  }
  fclose(mounts);
}

void look_like_podman(void) {
  enter_own_view();
  check(unshare(CLONE_NEWCGROUP), "make a cgroup namespace");
  cover("/run");
  write_file("/run/.containerenv", "");
}

void mount_inside(const char *folder) {
  enter_own_view();
  cover(folder);
}

/* Each call adds a level: the kernel allows two levels of stacked file systems, but not three. */
void lay_over(const char *folder) {
  char layers[512];
  enter_own_view();
  cover("/mnt"); /* an empty layer, because an overlay needs at least two */
  int length = snprintf(layers, sizeof layers, "lowerdir=%s:/mnt", folder);
  errno = ENAMETOOLONG;
  if (length >= (int)sizeof layers) give_up(folder);
  check(mount("overlay", folder, "overlay", MS_RDONLY, layers), folder);
}

static void copy_file(const char *from, const char *to) {
  char text[4096];
  int fd = open(from, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  if (length < 0) return; /* some are write-only, or readable only for root */
  text[length] = 0;
  write_file(to, text);
}

/* `kernel.name=value`: covers its folder in /proc/sys with a copy that contains the value. */
void show_sysctl(const char *assignment) {
  char folder[128], name[128], value[64], from[512], to[512];
  if (sscanf(assignment, "%127[a-z].%127[a-z_]=%63s", name, from, value) != 3) {
    errno = EINVAL;
    give_up(assignment);
  }
  enter_own_view();
  snprintf(folder, sizeof folder, "/proc/sys/%.32s", name);
  DIR *before = opendir(folder);
  if (before == NULL) give_up(folder);
  char wanted[512];
  snprintf(wanted, sizeof wanted, "%.100s/%.127s", folder, from);
  cover(folder);
  for (struct dirent *entry; (entry = readdir(before)) != NULL;) {
    if (entry->d_type != DT_REG) continue;
    snprintf(from, sizeof from, "/proc/self/fd/%d/%.255s", dirfd(before), entry->d_name);
    snprintf(to, sizeof to, "%.100s/%.255s", folder, entry->d_name);
    copy_file(from, to);
  }
  closedir(before);
  unlink(wanted);
  write_file(wanted, value);
}

void forbid_execution(const char *folder) {
  enter_own_view();
  check(mount(folder, folder, NULL, MS_BIND, NULL), folder);
  check(mount(NULL, folder, NULL, MS_REMOUNT | MS_BIND | MS_NOEXEC | MS_NOSUID | MS_NODEV, NULL), folder);
}
