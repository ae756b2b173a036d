/*
 * Kernel memory of bytes that wait in sockets, as the kernel reports it (sock_diag) for the cell's own network
 * namespace. A cgroup charges bytes in Unix sockets, but never netlink, and TCP and UDP only from version 2 on. Not
 * counted: pipes, which fs.pipe-user-pages-soft bounds for each user of the host, and sockets of a network that is
 * shared with the host.
 */
#include "watch/memory/sockets.h"
#include "cell.h"
#include "clock.h"

#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  ANSWER_BYTES = 64 << 10,       /* the kernel fills 32 KiB at a time */
  LONGEST_PACKET = 640 << 10,    /* what one message can put on top of a full send buffer: 17 fragments of 32 KiB */
  LONGEST_OF_STREAM = 64 << 10,
  SMALLEST_BUFFER_FACTOR = 1024, /* a message of one byte takes a buffer of 768 */
  DATAGRAM_SENDERS = 12,         /* a new network namespace lets 11 wait, and a connected peer may add its own */
  REST_FACTOR = 8,               /* counting very many sockets takes at most an eighth of a core */
};

static int diagnosis_fd = -1;
static uint64_t send_buffer; /* of every Unix socket: the filter does not let guests change it */

/* The request for one kind of socket, and the place of the sizes in its answer. */
struct question {
  const void *request;
  size_t request_bytes;
  size_t answer_header_bytes;
  uint16_t sizes_attribute;
};

struct answer {
  uint32_t type;
  uint32_t state;
  uint64_t bytes;
  uint64_t readable;
  bool has_peer;
};

struct totals {
  uint64_t bytes;
  uint64_t from_unix; /* of these */
  uint64_t left_by_senders; /* an upper bound; the kernel no longer charges it to anybody */
};

static uint64_t sum_sizes(const uint32_t *sizes, size_t count) {
  if (count <= SK_MEMINFO_BACKLOG) return 0;
  uint32_t sent = sizes[SK_MEMINFO_WMEM_ALLOC];
  uint32_t queued = sizes[SK_MEMINFO_WMEM_QUEUED]; /* TCP: the same bytes, before and while they are sent */
  uint64_t received = (uint64_t)sizes[SK_MEMINFO_RMEM_ALLOC] + sizes[SK_MEMINFO_BACKLOG];
  return received + (sent > queued ? sent : queued) + sizes[SK_MEMINFO_OPTMEM];
}

static void read_attribute(const struct rtattr *attribute, uint16_t sizes_attribute, struct answer *answer) {
  const uint32_t *words = RTA_DATA(attribute);
  size_t count = RTA_PAYLOAD(attribute) / sizeof *words;
  if (attribute->rta_type == sizes_attribute) {
    answer->bytes = sum_sizes(words, count);
  } else if (answer->type != 0 && attribute->rta_type == UNIX_DIAG_RQLEN && count >= 1) {
    answer->readable = words[0];
  } else if (answer->type != 0 && attribute->rta_type == UNIX_DIAG_PEER && count >= 1) {
    answer->has_peer = words[0] != 0; /* the inode of a socket that is closed is 0 */
  }
}

/*
 * The kernel charges a Unix socket's messages to their sender. Once the sender is closed, nothing shows how much it left:
 * for a stream the kernel reports the queue length of its one peer but not the buffers, for datagrams only the first one.
 */
static uint64_t left_by_senders(const struct answer *answer) {
  enum { LISTENING = 10 };
  if (answer->readable == 0 || answer->state == LISTENING) return 0;
  uint64_t of_one_sender = send_buffer + (answer->type == SOCK_STREAM ? LONGEST_OF_STREAM : LONGEST_PACKET);
  if (answer->type == SOCK_DGRAM) return DATAGRAM_SENDERS * of_one_sender;
  if (answer->has_peer) return 0;
  uint64_t most = answer->readable * SMALLEST_BUFFER_FACTOR;
  return most < of_one_sender ? most : of_one_sender;
}

static void add_answer(const struct nlmsghdr *message, const struct question *question, struct totals *totals) {
  size_t length = message->nlmsg_len - NLMSG_HDRLEN;
  if (length < question->answer_header_bytes) return;
  const uint8_t *header = NLMSG_DATA(message);
  struct answer answer = {0};
  if (header[0] == AF_UNIX) {
    const struct unix_diag_msg *unix_socket = (const struct unix_diag_msg *)header;
    answer.type = unix_socket->udiag_type;
    answer.state = unix_socket->udiag_state;
  }
  size_t at = NLMSG_ALIGN(question->answer_header_bytes);
  size_t left = length > at ? length - at : 0;
  const struct rtattr *attribute = (const struct rtattr *)(header + at);
  while (RTA_OK(attribute, left)) {
    read_attribute(attribute, question->sizes_attribute, &answer);
    size_t step = RTA_ALIGN(attribute->rta_len);
    if (step >= left) break; /* the last one need not be padded, and RTA_NEXT would read past it */
    left -= step;
    attribute = (const struct rtattr *)((const uint8_t *)attribute + step);
  }
  totals->bytes += answer.bytes;
  totals->left_by_senders += left_by_senders(&answer);
}

/* A kernel without this kind of sock_diag returns an error; those sockets are not counted. */
static void ask(const struct question *question, struct totals *totals) {
  static _Alignas(struct nlmsghdr) uint8_t buffer[ANSWER_BYTES];
  struct nlmsghdr *message = (struct nlmsghdr *)buffer;
  *message = (struct nlmsghdr){
      .nlmsg_len = (uint32_t)NLMSG_LENGTH(question->request_bytes),
      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
      .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
  };
  memcpy(NLMSG_DATA(message), question->request, question->request_bytes);
  if (send(diagnosis_fd, buffer, message->nlmsg_len, 0) < 0) return;
  for (;;) {
    ssize_t count = recv(diagnosis_fd, buffer, sizeof buffer, 0);
    if (count <= 0) return;
    size_t left = (size_t)count;
    message = (struct nlmsghdr *)buffer;
    while (NLMSG_OK(message, left)) {
      if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR) return;
      add_answer(message, question, totals);
      size_t step = NLMSG_ALIGN(message->nlmsg_len);
      if (step >= left) break; /* as above */
      left -= step;
      message = (struct nlmsghdr *)((uint8_t *)message + step);
    }
  }
}

static void ask_unix(struct totals *totals) {
  struct unix_diag_req request = {
      .sdiag_family = AF_UNIX,
      .udiag_states = UINT32_MAX,
      .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN | UDIAG_SHOW_MEMINFO,
  };
  ask(&(struct question){&request, sizeof request, sizeof(struct unix_diag_msg), UNIX_DIAG_MEMINFO}, totals);
}

static void ask_netlink(struct totals *totals) {
  struct netlink_diag_req request = {
      .sdiag_family = AF_NETLINK,
      .sdiag_protocol = NDIAG_PROTO_ALL,
      .ndiag_show = NDIAG_SHOW_MEMINFO,
  };
  ask(&(struct question){&request, sizeof request, sizeof(struct netlink_diag_msg), NETLINK_DIAG_MEMINFO}, totals);
}

static void ask_internet(uint8_t family, uint8_t protocol, struct totals *totals) {
  struct inet_diag_req_v2 request = {
      .sdiag_family = family,
      .sdiag_protocol = protocol,
      .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
      .idiag_states = UINT32_MAX,
  };
  ask(&(struct question){&request, sizeof request, sizeof(struct inet_diag_msg), INET_DIAG_SKMEMINFO}, totals);
}

/*
 * Reads a number from the kernel's summary of a namespace's sockets. That is cheap, while listing the sockets walks tables
 * of the whole machine.
 */
static uint64_t count_in(const char *text, const char *name) {
  const char *line = strstr(text, name);
  return line ? strtoul(line + strlen(name), NULL, 10) : 0;
}

/* False when there is no such protocol in this kernel. */
static bool read_summary(const char *path, char *text, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, text, bytes - 1);
  close(fd);
  if (count <= 0) return false;
  text[count] = 0;
  return true;
}

static void ask_internet_in_use(const char *text, uint8_t family, struct totals *totals) {
  bool is_newer = family == AF_INET6;
  if (count_in(text, is_newer ? "TCP6: inuse " : "TCP: inuse ") > 0) ask_internet(family, IPPROTO_TCP, totals);
  if (count_in(text, is_newer ? "UDP6: inuse " : "UDP: inuse ") > 0) ask_internet(family, IPPROTO_UDP, totals);
}

static void open_diagnosis(void) {
  diagnosis_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  check(diagnosis_fd, "open the diagnosis of sockets");
  int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(probe, "open a socket to measure");
  int size = 0;
  socklen_t length = sizeof size;
  check(getsockopt(probe, SOL_SOCKET, SO_SNDBUF, &size, &length), "measure a send buffer");
  close(probe);
  send_buffer = (uint64_t)size;
}

static struct totals ask_all(bool unix_too) {
  enum { OWN_SOCKETS = 1 }; /* the diagnosis */
  struct totals totals = {0};
  char text[1024];
  bool is_summed = read_summary("/proc/net/sockstat", text, sizeof text);
  const char *used = is_summed ? strstr(text, "sockets: used ") : NULL;
  if (used && count_in(used, "sockets: used ") <= OWN_SOCKETS) return totals;
  if (unix_too) ask_unix(&totals);
  totals.from_unix = totals.bytes;
  ask_netlink(&totals);
  if (is_summed) ask_internet_in_use(text, AF_INET, &totals);
  if (read_summary("/proc/net/sockstat6", text, sizeof text)) ask_internet_in_use(text, AF_INET6, &totals);
  return totals;
}

static struct socket_memory last;
static uint64_t left_before;
static uint64_t next_us;

struct socket_memory socket_memory(bool unix_too) {
  uint64_t started = now_us();
  if (!cell.has_own_network || started < next_us) return last;
  if (diagnosis_fd < 0) open_diagnosis();
  struct totals totals = ask_all(unix_too);
  /*
   * The estimate is far too high for a child that printed a line and ended, but that line is soon read. So the lower
   * one of two successive estimates counts.
   */
  uint64_t left = totals.left_by_senders < left_before ? totals.left_by_senders : left_before;
  left_before = totals.left_by_senders;
  last = (struct socket_memory){.bytes = totals.bytes, .at_most_more = left, .from_machine = totals.bytes - totals.from_unix};
  next_us = started + REST_FACTOR * (now_us() - started);
  return last;
}
