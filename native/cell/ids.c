/*
 * Ids and capabilities. The stub becomes the cell's own uid before it makes the user namespace, so that quotas
 * of the kernel (inotify watches, …) are charged to that uid and never to root. Maps are written from outside.
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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
  if (!cell.uid_map) return -1; /* the plan has none before this process was made */
  if (cell.deny_setgroups) {
    snprintf(path, sizeof path, "/proc/%d/setgroups", pid);
    if (write_text(path, "deny") < 0) return -1;
  }
  snprintf(path, sizeof path, "/proc/%d/uid_map", pid);
  if (write_text(path, cell.uid_map) < 0) return -1;
  snprintf(path, sizeof path, "/proc/%d/gid_map", pid);
  return write_text(path, cell.gid_map);
}

/* Waits for pid 1's pid, writes its maps, answers with an errno. It is the only process that stays root. */
static _Noreturn void run_helper(int fd) {
  pid_t pid = 0;
  if (!read_exactly(fd, &pid, sizeof pid)) _exit(0);
  int error = write_maps_of(pid) < 0 ? errno : 0;
  _exit(write_exactly(fd, &error, sizeof error) ? 0 : 1);
}

void step_become(struct reader *record) {
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  require_whole(record);
  errno = EPROTO;
  if (uid == 0 || gid == 0) fail("choose the cell's uid");
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "reach the helper");
  cell.helper = fork();
  check(cell.helper, "fork the helper");
  if (cell.helper == 0) {
    close(pair[0]);
    close(CONTROL_FD);
    close(REPORT_FD);
    close(CHANNEL_FD);
    run_helper(pair[1]);
  }
  close(pair[1]);
  cell.helper_fd = pair[0];
  check(setgroups(0, NULL), "drop the groups");
  check(setresgid(gid, gid, gid), "become the cell's gid");
  check(setresuid(uid, uid, uid), "become the cell's uid");
}

void write_id_maps(pid_t pid) {
  if (cell.helper_fd < 0) {
    check(write_maps_of(pid), "write the id maps");
    return;
  }
  int error = EPIPE;
  if (!write_exactly(cell.helper_fd, &pid, sizeof pid) || !read_exactly(cell.helper_fd, &error, sizeof error)) error = EPIPE;
  errno = error;
  if (error != 0) fail("write the id maps");
  close(cell.helper_fd);
  while (waitpid(cell.helper, NULL, 0) < 0 && errno == EINTR) continue;
}

void step_set_ids(struct reader *record) {
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  require_whole(record);
  check(setgroups(0, NULL), "drop the groups inside");
  check(setresgid(gid, gid, gid), "take the inner gid");
  check(setresuid(uid, uid, uid), "take the inner uid");
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
    /* Where it is gone already, the right to take it away may be gone too. */
    if (is_there == 1 && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) < 0 && required) fail("empty the bounding set");
  }
}

/* A container's root may lack the right to empty the bounding set; no_new_privs closes it all the same. */
void reduce_capabilities(uint64_t kept) {
  check(set_capabilities(current_permitted(), 0), "use the capabilities kept");
  empty_bounding_set(false);
  check(set_capabilities(kept, 0), "reduce the capabilities");
}

/* Inheritable first: once the bounding set is empty the kernel refuses to raise it. */
void step_keep_capabilities(struct reader *record) {
  uint64_t kept = take_u64(record);
  require_whole(record);
  check(set_capabilities(current_permitted(), kept), "set the inheritable capabilities");
  empty_bounding_set(true);
  check(set_capabilities(kept, kept), "reduce the capabilities");
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become undumpable");
}

bool drop_to_guest_ids(void) {
  if (!cell.guest_changes_ids) return true;
  gid_t gid = cell.guest_gid;
  uid_t uid = cell.guest_uid;
  return setgroups(0, NULL) == 0 && setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0;
}

bool drop_capabilities(void) { return set_capabilities(0, 0) == 0; }

bool raise_ambient_capabilities(uint64_t mask) {
  for (unsigned long number = 0; number < 64; number++) {
    if ((mask >> number & 1) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0) < 0) return false;
  }
  return set_capabilities(mask, mask) == 0;
}
