/*
 * The stub: pid 1's parent, outside the cell. It ends pid 1 when the host says so or is gone, reaps it, and
 * reports how it ended with what everything in the cell used. It has the cell's own uid and no capability, or
 * PDEATHSIG would not be delivered.
 */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool report_born(pid_t pid1) {
  uint8_t payload[4];
  put_u32(payload, (uint32_t)pid1);
  return write_frame(REPORT_FD, (struct frame){.length = sizeof payload, .type = FRAME_BORN}, payload);
}

/* The kernel ends and reaps every process of the namespace before it lets pid 1 be reaped. */
static _Noreturn void report_gone(pid_t pid1) {
  int status = 0;
  struct rusage usage = {0};
  while (wait4(pid1, &status, 0, &usage) < 0 && errno == EINTR) continue;
  uint8_t payload[28];
  put_u32(payload, (uint32_t)status);
  put_u64(payload + 4, time_us(usage.ru_utime));
  put_u64(payload + 12, time_us(usage.ru_stime));
  put_u64(payload + 20, (uint64_t)usage.ru_maxrss);
  /* A host that is gone needs no report. */
  (void)write_frame(REPORT_FD, (struct frame){.length = sizeof payload, .type = FRAME_GONE}, payload);
  _exit(0);
}

_Noreturn void run_stub(pid_t pid1, int pidfd, int sync_fd) {
  close(CONTROL_FD);
  close(CHANNEL_FD);
  for (int slot = 0; slot < SLOTS_MAX; slot++) {
    if (cell.slots[slot] != 0) close(cell.slots[slot]);
  }
  char byte = 'm';
  write_id_maps(pid1);
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "hide the stub");
  if (report_born(pid1) && write_exactly(sync_fd, &byte, 1) && read_exactly(sync_fd, &byte, 1)) {
    (void)write_exactly(sync_fd, &byte, 1);
  }
  close(sync_fd);
  struct pollfd polled[2] = {{.fd = REPORT_FD, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 2, -1) < 0 && errno != EINTR) fail("wait for the host");
    if (polled[1].revents) report_gone(pid1);
    if (polled[0].revents) {
      /* Any byte, or the end of the socket: the host wants this cell gone. */
      (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
      polled[0].fd = -1;
    }
  }
}
