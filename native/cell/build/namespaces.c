/*
 * Namespaces. One clone3 creates them all, so that pid 1 never has only some of them. The parent becomes the stub
 * (stub.c); the child continues with the plan and becomes the cell's pid 1.
 */
#include "build/namespaces.h"
#include "cell.h"
#include "frames.h"
#include "record.h"
#include "build/stub.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

void step_clone(struct reader *record) {
  uint64_t flags = take_u64(record);
  require_whole(record);
  int sync[2];
  int pidfd = -1;
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync), "join stub and pid 1");
  struct clone_args arguments = {
      .flags = flags | CLONE_PIDFD,
      .pidfd = (uint64_t)(uintptr_t)&pidfd,
      .exit_signal = SIGCHLD,
  };
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  check(pid, "create the namespaces");
  cell.namespaces = flags;
  if (pid > 0) {
    close(sync[1]);
    run_stub((pid_t)pid, pidfd, sync[0]);
  }
  close(sync[0]);
  cell.sync_fd = sync[1];
  char mapped = 0;
  if (!read_exactly(cell.sync_fd, &mapped, 1)) _exit(1); /* the stub failed and has reported why */
}

/*
 * From here on pid 1 dies with its stub. PDEATHSIG is set after the ids, because setresuid clears it. Then a handshake
 * proves that the stub is alive, because getppid() is 0 in a new pid namespace and cannot show a dead parent.
 */
void step_guard(struct reader *record) {
  require_whole(record);
  errno = EPROTO;
  if (cell.sync_fd < 0) fail("find the stub"); /* the plan has no clone record before this one */
  errno = EPERM;
  if (cell.own_uid != 0) fail("check the saved uid"); /* still root, because the plan has no set-ids record */
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "die with the stub");
  char byte = 'a';
  if (!write_exactly(cell.sync_fd, &byte, 1) || !read_exactly(cell.sync_fd, &byte, 1)) _exit(1);
  close(cell.sync_fd);
  cell.sync_fd = -1;
}

void step_unshare(struct reader *record) {
  uint64_t flags = take_u64(record);
  require_whole(record);
  check(unshare((int)flags), "unshare a namespace");
}

void step_loopback(struct reader *record) {
  require_whole(record);
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(fd, "open a socket for the loopback");
  struct ifreq request;
  memset(&request, 0, sizeof request);
  memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  check(ioctl(fd, SIOCSIFFLAGS, &request), "bring the loopback up");
  close(fd);
  cell.has_own_network = true;
}

void step_hostname(struct reader *record) {
  const char *name = take_string(record);
  require_whole(record);
  check(sethostname(name, strlen(name)), "set the hostname");
}

/*
 * Writes a sysctl of this process's user or network namespace, never one of the host's network. A kernel without the
 * facility has no such file, and the AppArmor profiles of containers refuse it. It is a budget, not a wall:
 * THREAT_MODEL.md says what holds without it.
 */
void step_setting(struct reader *record) {
  const char *path = take_string(record);
  const char *value = take_string(record);
  require_whole(record);
  errno = EPERM;
  if (!(cell.namespaces & CLONE_NEWNET) && strncmp(path, "/proc/sys/net/", 14) == 0) fail("open a setting");
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == EACCES)) return;
  check(fd, "open a setting");
  check(write(fd, value, strlen(value)), "change a setting");
  close(fd);
}
