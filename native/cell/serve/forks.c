/*
 * A guest that is a fork of the cell's zygote: pid 1 of a space sends what the fork has to become, with everything that
 * it needs as a descriptor, and gets the result on the exec pipe. The other half is native/zygote/fork_guests.c.
 */
#include "serve/forks.h"
#include "cell.h"
#include "frames.h"
#include "record.h"
#include "serve/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const struct namespace_kind namespace_kinds[NAMESPACE_KINDS] = {
    {CLONE_NEWPID, "/proc/self/ns/pid"},
    {CLONE_NEWCGROUP, "/proc/self/ns/cgroup"},
    {CLONE_NEWIPC, "/proc/self/ns/ipc"},
    {CLONE_NEWUTS, "/proc/self/ns/uts"},
    {CLONE_NEWNET, "/proc/self/ns/net"},
    {CLONE_NEWNS, "/proc/self/ns/mnt"}, /* last: from there the zygote's own files are out of reach */
};

static int namespace_fds[NAMESPACE_KINDS];

/*
 * Opens the namespaces while this process may still open its own /proc, before it becomes undumpable. No slot is needed
 * afterwards.
 */
void step_forks(struct reader *record) {
  cell.fork_root = take_string(record);
  require_whole(record);
  errno = EPROTO;
  if (cell.zygote_fd < 0) fail("find the zygote");
  cell.namespaces |= CLONE_NEWCGROUP; /* unshared by itself, see plan.ts */
  for (int i = 0; i < NAMESPACE_KINDS; i++) {
    if (!(cell.namespaces & namespace_kinds[i].flag)) continue;
    namespace_fds[i] = open(namespace_kinds[i].path, O_RDONLY | O_CLOEXEC);
    check(namespace_fds[i], "open a namespace");
  }
  for (uint32_t slot = 0; slot < SLOTS_MAX; slot++) {
    if (cell.slots[slot] != 0) check(close(take_from_slot(slot)), "close a slot");
  }
}

struct message {
  uint8_t bytes[FORK_BYTES_MAX];
  size_t length;
};

static void add_bytes(struct message *message, const void *bytes, size_t length) {
  if (length > FORK_BYTES_MAX - 4 || message->length > FORK_BYTES_MAX - 4 - length) {
    message->length = FORK_BYTES_MAX + 1; /* every later addition fails, too */
    return;
  }
  put_u32(message->bytes + message->length, (uint32_t)length);
  if (length > 0) memcpy(message->bytes + message->length + 4, bytes, length);
  message->length += 4 + length;
}

static size_t list_fds(int fds[FORK_FDS_MAX], const int guest_fds[GUEST_FDS]) {
  size_t count = 0;
  for (int i = 0; i < NAMESPACE_KINDS; i++) {
    if (cell.namespaces & namespace_kinds[i].flag) fds[count++] = namespace_fds[i];
  }
  for (uint32_t i = 0; i < cell.guest_join_count; i++) fds[count++] = cell.guest_joins[i];
  for (int i = 0; i < GUEST_FDS; i++) {
    if (guest_fds[i] >= 0) fds[count++] = guest_fds[i];
  }
  return count;
}

bool ask_for_fork(const int guest_fds[GUEST_FDS], struct reader request) {
  static struct message message;
  errno = EPROTO;
  if (cell.zygote_fd < 0 || !cell.fork_root || !cell.filter || !cell.has_landlock) return false;
  uint8_t numbers[FORK_NUMBERS][4];
  put_u32(numbers[FORK_NAMESPACES], (uint32_t)cell.namespaces);
  put_u32(numbers[FORK_JOINS], cell.guest_join_count);
  put_u32(numbers[FORK_CHANGES_IDS], cell.guest_changes_ids);
  put_u32(numbers[FORK_UID], cell.guest_uid);
  put_u32(numbers[FORK_GID], cell.guest_gid);
  message.length = 0;
  add_bytes(&message, numbers, sizeof numbers);
  add_bytes(&message, cell.fork_root, strlen(cell.fork_root) + 1);
  add_bytes(&message, cell.filter, cell.filter_bytes);
  add_bytes(&message, cell.landlock.at, cell.landlock.left);
  add_bytes(&message, request.at, request.left);
  errno = E2BIG;
  if (message.length > FORK_BYTES_MAX) return false;
  int fds[FORK_FDS_MAX];
  size_t count = list_fds(fds, guest_fds);
  union {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof fds)];
  } control = {0};
  struct iovec data = {.iov_base = message.bytes, .iov_len = message.length};
  struct msghdr envelope = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
  struct cmsghdr *part = CMSG_FIRSTHDR(&envelope);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(count * sizeof(int));
  memcpy(CMSG_DATA(part), fds, count * sizeof(int));
  return sendmsg(cell.zygote_fd, &envelope, MSG_NOSIGNAL) == (ssize_t)message.length;
}
