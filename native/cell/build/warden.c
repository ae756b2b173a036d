/*
 * A cell without namespaces, for machines that refuse them. The *warden* takes the place of pid 1, and exists before the
 * first guest. It and the stub are subreapers, so nothing that a guest starts leaves their tree. Each has its own Landlock
 * domain that scopes signals: its `kill(-1)` reaches everything below it and nothing else on the machine, in one call,
 * however fast guests fork. Guests are in a third domain and cannot signal either of them.
 * Source: landlock(7), prctl(2) PR_SET_CHILD_SUBREAPER, kill(2).
 */
#include "build/warden.h"
#include "cell.h"
#include "filters.h"
#include "frames.h"
#include "ids.h"
#include "record.h"
#include "build/stub.h"
#include "watch/kill.h"
#include "watch/files/work.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The run's own folder on the host's disk, and in it the two that its guests may write to. */
void step_work(struct reader *record) {
  const char *path = take_string(record);
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  cell.disk_bytes = take_u64(record);
  cell.disk_entries = take_u64(record);
  require_whole(record);
  errno = EPROTO;
  if (*path != '/') fail("read the work folder");
  check(mkdir(path, 0711), "make the work folder");
  cell.work = path;
  check(chdir(path), "enter the work folder");
  for (int i = 0; i < WORK_FOLDERS; i++) {
    check(mkdir(work_folders[i], 0700), "make a folder for the guests");
    if (geteuid() == 0) check(chown(work_folders[i], uid, gid), "give a folder to the guests");
  }
}

/* Keeps capabilities across the change of ids. Without a user namespace they apply to the host, so they are few. */
void step_take_ids(struct reader *record) {
  uid_t uid = take_u32(record);
  gid_t gid = take_u32(record);
  uint64_t kept = take_u64(record);
  require_whole(record);
  errno = EPROTO;
  if (uid == 0 || gid == 0) fail("choose the cell's uid");
  if (cell.work) check(chown(".", uid, gid), "take the work folder");
  check(prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keep capabilities");
  check(setgroups(0, NULL), "drop the groups");
  check(setresgid(gid, gid, gid), "become the cell's gid");
  check(setresuid(uid, uid, uid), "become the cell's uid");
  reduce_capabilities(kept);
}

/*
 * Becomes undumpable, gives up new privileges, and enters its own domain. Without the scope, only a uid of their own
 * keeps guests from signalling us; guests with our uid could.
 */
void step_confine(struct reader *record) {
  bool needs_scope = take_u32(record) != 0;
  require_whole(record);
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become undumpable");
  check(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "become a subreaper");
  cell.scoped = needs_scope && scope_signals();
  if (!cell.scoped && needs_scope && !cell.guest_changes_ids) {
    errno = EOPNOTSUPP;
    fail("scope signals with Landlock");
  }
  if (cell.scoped && reaches_strangers()) {
    errno = EPROTO;
    fail("prove the scope of signals"); /* kill(-1) relies on it */
  }
}

/* The parent becomes the stub, the child the warden. The warden must outlive the stub, to clean up. */
void step_warden(struct reader *record) {
  int sync[2];
  int pidfd;
  require_whole(record);
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync), "join stub and warden");
  cell.is_warded = true;
  pid_t pid = fork();
  check(pid, "fork the warden");
  if (pid > 0) {
    close(sync[1]);
    pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    check(pidfd, "hold the warden");
    run_stub(pid, pidfd, sync[0]);
  }
  close(sync[0]);
  cell.sync_fd = sync[1];
  check(fcntl(cell.sync_fd, F_SETFD, FD_CLOEXEC), "mark descriptors");
  char byte = 0;
  if (!read_exactly(cell.sync_fd, &byte, 1)) _exit(1); /* the stub failed and has reported why */
}
