/*
 * A cell without namespaces, for machines that refuse them. The place of pid 1 is taken by the *warden*, which exists
 * before the first guest: it and the stub are subreapers, so nothing that a guest starts leaves their tree, and each
 * has a Landlock domain of its own that scopes signals: `kill(-1)` from it reaches what lies below and nothing else of
 * the machine, at once and whatever forks meanwhile. Guests lie in a third domain and cannot signal either of them.
 * Source: landlock(7), prctl(2) PR_SET_CHILD_SUBREAPER, kill(2).
 */
#include "cell.h"
#include "steps.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
    check(mkdir(work_folders[i], 0700), "make a folder of the guests");
    if (geteuid() == 0) check(chown(work_folders[i], uid, gid), "give a folder to the guests");
  }
}

/* Keeps capabilities over the change of ids. There is no user namespace: they count on the host, so they are few. */
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
 * Signals may not reach the machine's init: then neither do they reach anything else that is not ours to end. Asked
 * before every kill(-1) outside a pid namespace, because a single capability too many would end the machine.
 */
static bool reaches_strangers(void) { return kill(1, 0) == 0 || errno != EPERM; }

/*
 * Undumpable, no new privileges, and a domain of its own. Without the scope only a guest of another uid is kept from
 * signalling us; where guests have ours too, there is no wall to stand on.
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
    fail("prove the scope of signals"); /* kill(-1) rests on it */
  }
}

/* The parent becomes the stub, the child the warden. It must not die with the stub but outlive it and clean up. */
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
  if (!read_exactly(cell.sync_fd, &byte, 1)) _exit(1); /* the stub failed and has said why */
}

/* Where no scope holds a kill together, the guests' uid does: nothing else on the machine has it. */
bool end_guests_by_uid(void) {
  pid_t pid = fork();
  if (pid == 0) {
    /* A change from one ordinary uid to another keeps the capabilities, CAP_KILL among them. */
    bool is_guest = cell.guest_changes_ids && drop_to_guest_ids() && drop_capabilities();
    if (!is_guest || getuid() != cell.guest_uid || reaches_strangers()) _exit(1);
    (void)kill(-1, SIGKILL);
    _exit(0);
  }
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && status == 0;
}

static bool has_ended(long pid) {
  char path[64];
  char text[512] = "";
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  (void)!read(fd, text, sizeof text - 1);
  close(fd);
  const char *state = strrchr(text, ')'); /* the name before it is the guest's to choose */
  return !state || state[2] == 'Z' || state[2] == 'X';
}

/*
 * Without a scope and without a uid of their own, guests are found one by one, and may fork meanwhile. Held before it
 * is looked for a second time, a pid cannot have become somebody else's.
 */
static void end_one_by_one(void) {
  enum { ROUNDS_MAX = 1000 };
  static long pids[PROCESSES_MAX];
  static long again[PROCESSES_MAX];
  for (int round = 0; round < ROUNDS_MAX; round++) {
    size_t count = list_processes(pids, PROCESSES_MAX);
    size_t alive = 0;
    for (size_t i = 0; i < count; i++) {
      int pidfd = (int)syscall(SYS_pidfd_open, pids[i], 0);
      if (pidfd < 0) continue;
      size_t still = list_processes(again, PROCESSES_MAX);
      for (size_t j = 0; j < still; j++) {
        if (again[j] == pids[i] && !has_ended(pids[i]) && syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0) alive++;
      }
      close(pidfd);
    }
    if (alive == 0) return;
  }
}

void kill_guests(void) {
  if (!cell.is_warded && getpid() == 1) (void)kill(-1, SIGKILL); /* all but us in our pid namespace */
  else if (cell.scoped && !reaches_strangers()) (void)kill(-1, SIGKILL); /* all but us in the domain */
  else if (!cell.guest_changes_ids || !end_guests_by_uid()) end_one_by_one();
}

void end_everything(int pidfd) {
  (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
  if (cell.is_warded) kill_guests();
}

/*
 * How many processes and threads of this uid the kernel counts, those that other containers hide included: the
 * smallest limit under which a fork still works tells. Runs in a process of its own, because the limit is lowered.
 */
static uint32_t probe_task_count(void) {
  enum { COUNT_MAX = 1 << 17 };
  uint32_t low = 1;
  uint32_t high = COUNT_MAX;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NPROC, &limit) < 0) return 0;
    limit.rlim_cur = middle < limit.rlim_max ? middle : limit.rlim_max;
    if (setrlimit(RLIMIT_NPROC, &limit) < 0) return 0;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid > 0) while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    if (pid > 0) high = middle;
    else low = middle + 1;
  }
  return low - 2; /* without the process that asks and the one that it just could have started */
}

uint32_t tasks_besides_guests(void) {
  int answer[2];
  uint32_t count = 0;
  check(pipe2(answer, O_CLOEXEC), "ask for the number of processes");
  pid_t pid = fork();
  check(pid, "ask for the number of processes");
  if (pid == 0) {
    count = probe_task_count();
    _exit(write_exactly(answer[1], &count, sizeof count) ? 0 : 1);
  }
  close(answer[1]);
  errno = ENOMSG;
  if (!read_exactly(answer[0], &count, sizeof count)) fail("count this user's processes");
  close(answer[0]);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return count;
}
