/*
 * Reads a packet. It comes from a pid 1, on a socket that no guest can write to, so only the fields used here are checked.
 */
#include "packet.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct cell cell = {.sync_fd = -1, .zygote_fd = -1};

static uint8_t packet[FORK_BYTES_MAX];
static size_t packet_bytes;

static void close_fds(struct fork_request *request) {
  while (request->fd_count > 0) close(request->fds[--request->fd_count]);
}

/* One packet with its descriptors. Its length, 0 at the end, or -1. */
static ssize_t receive(struct fork_request *request, int socket_fd) {
  union {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof request->fds)];
  } control = {0};
  struct iovec data = {.iov_base = packet, .iov_len = sizeof packet};
  struct msghdr envelope = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  ssize_t length = recvmsg(socket_fd, &envelope, MSG_CMSG_CLOEXEC);
  if (length < 0) return -1;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&envelope); part; part = CMSG_NXTHDR(&envelope, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    request->fd_count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(request->fds, CMSG_DATA(part), request->fd_count * sizeof(int));
  }
  errno = EMSGSIZE;
  return envelope.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : length;
}

static bool place_fds(struct fork_request *request) {
  bool has_descriptor_3 = (request->program.flags & SPAWN_HAS_DESCRIPTOR_3) != 0;
  size_t expected = request->joins + (size_t)GUEST_FDS - (has_descriptor_3 ? 0 : 1);
  for (int i = 0; i < NAMESPACE_KINDS; i++) expected += (request->namespaces & namespace_kinds[i].flag) != 0;
  if (request->fd_count != expected || !(request->namespaces & namespace_kinds[0].flag)) return false;
  size_t next = request->fd_count;
  request->guest_fds[EXEC_FD] = request->fds[--next];
  request->guest_fds[GUEST_CHANNEL_FD] = has_descriptor_3 ? request->fds[--next] : -1;
  for (int i = GUEST_CHANNEL_FD; i-- > 0;) request->guest_fds[i] = request->fds[--next];
  return true;
}

static bool read_packet(struct fork_request *request) {
  static struct spawn ignored; /* fields that only pid 1 uses */
  struct reader reader = reader_of(packet, packet_bytes);
  uint32_t bytes = 0;
  struct reader numbers = reader_of(take_bytes(&reader, &bytes), 0);
  numbers.left = bytes;
  request->namespaces = take_u32(&numbers);
  request->joins = take_u32(&numbers);
  cell.guest_changes_ids = take_u32(&numbers) != 0;
  cell.guest_uid = take_u32(&numbers);
  cell.guest_gid = take_u32(&numbers);
  cell.guest_root = take_string(&reader);
  cell.filter = take_bytes(&reader, &cell.filter_bytes);
  const uint8_t *landlock = take_bytes(&reader, &bytes);
  cell.landlock = reader_of(landlock, bytes);
  cell.has_landlock = true;
  const uint8_t *program = take_bytes(&reader, &bytes);
  if (!reader_done(&reader) || !reader_done(&numbers) || request->joins > CGROUPS_MAX) return false;
  struct reader spawn = reader_of(program, bytes);
  request->program = (struct program){0};
  return cell.filter_bytes > 0 && take_program(&request->program, &ignored, &spawn) && place_fds(request);
}

enum taken take_packet(struct fork_request *request, int socket_fd) {
  ssize_t length;
  do length = receive(request, socket_fd);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return length == 0 ? ENDED : BROKEN;
  packet_bytes = (size_t)length;
  if (read_packet(request)) return TAKEN;
  forget_packet(request);
  return REFUSED;
}

void forget_packet(struct fork_request *request) {
  close_fds(request); /* otherwise the guest's pipes would stay open after its end */
  explicit_bzero(packet, packet_bytes);
  explicit_bzero(&request->program, sizeof request->program);
}
