/*
 * The stub: the parent of pid 1 or of the warden, outside the cell. It ends pid 1 when the host says so or is gone,
 * reaps it, and reports its end and the usage of the whole cell. It has the cell's own uid and no capability; otherwise
 * PDEATHSIG would not be delivered.
 */
#include "build/stub.h"
#include "cell.h"
#include "clock.h"
#include "frames.h"
#include "ids.h"
#include "watch/kill.h"
#include "watch/files/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool report_born(pid_t pid1) {
  uint8_t payload[4];
  put_u32(payload, (uint32_t)pid1);
  return write_frame(REPORT_FD, (struct frame){.length = sizeof payload, .type = FRAME_BORN}, payload);
}

/*
 * The kernel ends and reaps every process of a pid namespace before it lets pid 1 be reaped. Without a pid namespace,
 * processes that lost their parent have become our children: they are killed until none is left to wait for.
 */
static void reap_everything(pid_t pid1, int pidfd, int *status) {
  for (;;) {
    int one = 0;
    if (cell.is_warded) end_everything(pidfd);
    pid_t pid = waitpid(-1, &one, __WALL);
    if (pid == pid1) *status = one;
    if (pid < 0 && errno != EINTR) return;
  }
}

static _Noreturn void report_gone(pid_t pid1, int pidfd) {
  int status = 0;
  struct rusage usage = {0};
  reap_everything(pid1, pidfd, &status);
  check(getrusage(RUSAGE_CHILDREN, &usage), "read what was used");
  uint8_t payload[28];
  put_u32(payload, (uint32_t)status);
  put_u64(payload + 4, time_us(usage.ru_utime));
  put_u64(payload + 12, time_us(usage.ru_stime));
  put_u64(payload + 20, (uint64_t)usage.ru_maxrss);
  /* A host that is gone needs no report. */
  (void)write_frame(REPORT_FD, (struct frame){.length = sizeof payload, .type = FRAME_GONE}, payload);
  remove_work(); /* may take long; our exit tells the host that it is done */
  _exit(0);
}

_Noreturn void run_stub(pid_t pid1, int pidfd, int sync_fd) {
  close(CONTROL_FD);
  close(CHANNEL_FD);
  for (int slot = 0; slot < SLOTS_MAX; slot++) {
    if (cell.slots[slot] != 0) close(cell.slots[slot]);
  }
  if (cell.relay_fd != 0) close(cell.relay_fd);
  char byte = 'm';
  if (cell.namespaces & CLONE_NEWUSER) write_id_maps(pid1); /* a space has its cell's ids */
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "hide the stub");
  if (report_born(pid1) && write_exactly(sync_fd, &byte, 1) && !cell.is_warded && read_exactly(sync_fd, &byte, 1)) {
    (void)write_exactly(sync_fd, &byte, 1);
  }
  if (!cell.is_warded) close(sync_fd); /* a warden polls its end, to notice ours */
  struct pollfd polled[2] = {{.fd = REPORT_FD, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 2, -1) < 0 && errno != EINTR) fail("wait for the host");
    if (polled[1].revents) report_gone(pid1, pidfd);
    if (polled[0].revents) {
      /* Any byte, or the end of the socket, means that this cell must end. */
      end_everything(pidfd);
      polled[0].fd = -1;
    }
  }
}
