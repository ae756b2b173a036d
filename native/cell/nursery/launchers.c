/*
 * Launchers: forks of the nursery. Each holds the sockets of its own cell and no longer needs its nursery; its pid is
 * not reused until it is reaped.
 */
#include "nursery/launchers.h"
#include "cell.h"
#include "frames.h"
#include "nursery/connections.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LAUNCHERS_MAX = 8192 }; /* alive at one time */

struct launcher {
  uint32_t id;
  pid_t pid;
};

static struct launcher launchers[LAUNCHERS_MAX];
static size_t launcher_count;

void forget_launchers(void) { launcher_count = 0; }

void tell_host(uint8_t type, uint32_t id) {
  if (!write_frame(CONTROL_FD, (struct frame){.type = type, .id = id}, NULL)) _exit(0); /* the host is gone */
}

/* The child continues like a program that was just started: it closes the rest before it reads its plan. */
static void become_launcher(const int fds[3]) {
  check(dup2(fds[0], REPORT_FD), "take the report socket");
  check(dup2(fds[1], CONTROL_FD), "take the control socket");
  if (fds[2] >= 0) check(dup2(fds[2], CHANNEL_FD), "take the channel");
  check(prctl(PR_SET_NAME, "launcher", 0, 0, 0), "take a name");
  /* As after execve; its own /proc must be writable until the id maps are written. */
  check(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), "become dumpable");
}

static void refuse_launcher(int report_fd, int error) {
  uint8_t payload[8 + sizeof "fork the launcher" - 1];
  put_u32(payload, UINT32_MAX); /* no record of the plan */
  put_u32(payload + 4, (uint32_t)error);
  memcpy(payload + 8, "fork the launcher", sizeof payload - 8);
  (void)write_frame(report_fd, (struct frame){.length = sizeof payload, .type = FRAME_FAULT}, payload);
}

/* Forks once all sockets of a launcher are there. True in the child. */
bool try_to_launch(uint32_t id, bool has_channel) {
  int channel = has_channel ? find_connection(id, CHANNEL_FD) : -1;
  int fds[3] = {find_connection(id, REPORT_FD), find_connection(id, CONTROL_FD), channel};
  if (fds[0] < 0 || fds[1] < 0 || (has_channel && fds[2] < 0)) return false;
  errno = EAGAIN;
  pid_t pid = launcher_count < LAUNCHERS_MAX ? fork() : -1;
  if (pid == 0) {
    become_launcher(fds);
    return true;
  }
  int error = errno;
  tell_host(FRAME_STARTED, id);
  if (pid < 0) {
    refuse_launcher(fds[0], error);
    tell_host(FRAME_REAPED, id);
  } else {
    launchers[launcher_count++] = (struct launcher){.id = id, .pid = pid};
  }
  drop_connections_of(id);
  return false;
}

void reap_launchers(void) {
  for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
    for (size_t i = 0; i < launcher_count; i++) {
      if (launchers[i].pid != pid) continue;
      tell_host(FRAME_REAPED, launchers[i].id);
      launchers[i] = launchers[--launcher_count];
      break;
    }
  }
}

/* Only a launcher that has not been reaped is still in the list, so its number is still its own. */
void kill_launcher(uint32_t id) {
  for (size_t i = 0; i < launcher_count; i++) {
    if (launchers[i].id == id) (void)kill(launchers[i].pid, SIGKILL);
  }
}
