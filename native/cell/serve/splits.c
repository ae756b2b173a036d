/*
 * Forks of a guest. A process cannot move into another pid namespace, so origin and fork stay in one space. Pid 1 sends
 * the origin a Landlock ruleset and the fork's descriptors; the origin forks twice, so the fork becomes a child of
 * pid 1. Then both restrict themselves: sibling Landlock domains cannot signal or trace each other. The origin runs guest
 * code, so its messages are claims. It can only name an orphan of this space, and keep or leave its own processes.
 * Source: landlock(7), unix(7).
 */
#include "serve/splits.h"
#include "filters.h"
#include "spawns.h"
#include "watch/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SPLIT_FDS = GUEST_FDS + 1 };

static bool was_split;
static bool owes_sweep;

static bool send_descriptors(int socket_fd, const int fds[SPLIT_FDS]) {
  uint8_t mark = 0;
  union {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(SPLIT_FDS * sizeof(int))];
  } control = {0};
  struct iovec data = {.iov_base = &mark, .iov_len = sizeof mark};
  struct msghdr envelope = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  struct cmsghdr *part = CMSG_FIRSTHDR(&envelope);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(SPLIT_FDS * sizeof(int));
  memcpy(CMSG_DATA(part), fds, SPLIT_FDS * sizeof(int));
  return sendmsg(socket_fd, &envelope, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof mark;
}

/* Sends the descriptors on the origin's channel, where the origin waits for them. No other bytes may be queued there. */
const char *ask_for_split(uint32_t origin, const int guest_fds[GUEST_FDS]) {
  struct spawn *spawn = find_spawn(origin);
  errno = ESRCH;
  if (!spawn || spawn->exited || spawn->pid <= 0 || spawn->channel.fd < 0) return "find the guest that is to fork";
  errno = EAGAIN;
  if (spawn->channel.count > 0) return "reach the guest that is to fork";
  int fds[SPLIT_FDS];
  memcpy(fds, guest_fds, GUEST_FDS * sizeof(int));
  fds[GUEST_FDS] = open_scope(SCOPE_SOCKETS | SCOPE_SIGNALS);
  if (fds[GUEST_FDS] < 0) return "keep the forks of a guest apart";
  bool sent = send_descriptors(spawn->channel.fd, fds);
  int error = errno;
  close(fds[GUEST_FDS]);
  errno = error;
  was_split = was_split || sent;
  return sent ? NULL : "reach the guest that is to fork";
}

/* Whether `pid` is a child of this process that is not reaped yet and belongs to no other spawn. */
bool may_be_split(pid_t pid) {
  if (pid <= 1) return false;
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used && spawns[i].pid == pid) return false;
  }
  siginfo_t end = {0};
  return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0;
}

bool has_splits(void) { return was_split; }

void note_split_end(void) { owes_sweep = was_split; }

/* Waits while a fork is being created, because that process does not belong to any spawn yet. */
void sweep_after_splits(void) {
  static pid_t alive[SPAWNS_MAX];
  size_t count = 0;
  if (!owes_sweep || awaits_fork()) return;
  owes_sweep = false;
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used && !spawns[i].exited && spawns[i].pid > 0) alive[count++] = spawns[i].pid;
  }
  kill_strangers(alive, count);
}
