/*
 * Ids and capabilities. The stub takes the cell's own uid before it makes the user namespace, so that quotas of the
 * kernel (inotify watches, …) are charged to that uid and never to root. Maps are written from outside, by the stub:
 * root stays its saved uid until they are written, and it can never be root again afterwards.
 */
#include "ids.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void step_id_maps(struct reader *record) {
  cell.uid_map = take_string(record);
  cell.gid_map = take_string(record);
  cell.deny_setgroups = take_u32(record) != 0;
  require_whole(record);
}

static int write_text(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t written = write(fd, text, strlen(text));
  int error = errno;
  close(fd);
  errno = error;
  return written < 0 ? -1 : 0;
}

static int write_maps_of(pid_t pid) {
  char path[64];
  errno = EPROTO;
  if (!cell.uid_map) return -1; /* the plan has no id-maps record before the clone */
  if (cell.deny_setgroups) {
    snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
    if (write_text(path, "deny") < 0) return -1;
  }
  snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
  if (write_text(path, cell.uid_map) < 0) return -1;
  snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
  return write_text(path, cell.gid_map);
}

/*
 * The child of the clone record also has root as its saved uid, until it takes its inner ids. The maps do not contain
 * root.
 */
void step_become(struct reader *record) {
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  require_whole(record);
  errno = EPROTO;
  if (uid == 0 || gid == 0) fail("choose the cell's uid");
  check(setgroups(0, NULL), "drop the groups");
  check(setresgid(gid, gid, gid), "become the cell's gid");
  check(setresuid(uid, uid, 0), "become the cell's uid");
  cell.own_uid = uid;
}

void write_id_maps(pid_t pid) {
  if (cell.own_uid == 0) {
    check(write_maps_of(pid), "write the id maps");
    return;
  }
  check(setresuid((uid_t)-1, 0, (uid_t)-1), "be root to write the id maps");
  check(write_maps_of(pid), "write the id maps");
  check(setresuid(cell.own_uid, cell.own_uid, cell.own_uid), "become the cell's uid for good");
}

void step_set_ids(struct reader *record) {
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  require_whole(record);
  check(setgroups(0, NULL), "drop the groups inside");
  check(setresgid(gid, gid, gid), "take the inner gid");
  check(setresuid(uid, uid, uid), "take the inner uid");
  cell.own_uid = 0;
}

void step_guest_ids(struct reader *record) {
  cell.guest_uid = take_u32(record);
  cell.guest_gid = take_u32(record);
  require_whole(record);
  cell.guest_changes_ids = true;
}

static int set_capabilities(uint64_t permitted, uint64_t inheritable) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2];
  for (int i = 0; i < 2; i++) {
    data[i].effective = data[i].permitted = (uint32_t)(permitted >> (32 * i));
    data[i].inheritable = (uint32_t)(inheritable >> (32 * i));
  }
  return (int)syscall(SYS_capset, &header, data);
}

static uint64_t current_permitted(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
  check(syscall(SYS_capget, &header, data), "read the capabilities");
  return (uint64_t)data[0].permitted | (uint64_t)data[1].permitted << 32;
}

static void empty_bounding_set(bool required) {
  int is_there;
  for (unsigned long number = 0; (is_there = prctl(PR_CAPBSET_READ, number, 0, 0, 0)) >= 0; number++) {
    /* If it is already gone, the right to remove it may be gone too. */
    if (is_there == 1 && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0 && required) fail("empty the bounding set");
  }
}

/* A container's root may lack the right to empty the bounding set; no_new_privs has the same effect. */
void reduce_capabilities(uint64_t kept) {
  check(set_capabilities(current_permitted(), 0), "use the capabilities kept");
  empty_bounding_set(false);
  check(set_capabilities(kept, 0), "reduce the capabilities");
}

/* Raises the inheritable set first: once the bounding set is empty, the kernel refuses that. */
void step_keep_capabilities(struct reader *record) {
  uint64_t kept = take_u64(record);
  require_whole(record);
  check(set_capabilities(current_permitted(), kept), "set the inheritable capabilities");
  empty_bounding_set(true);
  check(set_capabilities(kept, kept), "reduce the capabilities");
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become undumpable");
}

/* System calls instead of glibc's functions, which in a fork of an engine would wait for threads that do not exist. */
bool drop_to_guest_ids(void) {
  if (!cell.guest_changes_ids) return true;
  gid_t gid = cell.guest_gid;
  uid_t uid = cell.guest_uid;
  return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, gid, gid, gid) == 0 &&
         syscall(SYS_setresuid, uid, uid, uid) == 0;
}

bool drop_capabilities(void) { return set_capabilities(0, 0) == 0; }

bool raise_ambient_capabilities(uint64_t mask) {
  for (unsigned long number = 0; number < 64; number++) {
    if ((mask >> number & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) < 0) return false;
  }
  return set_capabilities(mask, mask) == 0;
}
