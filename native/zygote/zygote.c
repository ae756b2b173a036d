/*
 * The half of the launcher that lives in an interpreter: a clean one with modules imported, which never runs guest code.
 * For each packet of a space's pid 1 (serve/forks.c of native/cell) it makes a process that is that pid 1's child: a fork
 * in the space's pid namespace forks again and ends, and the kernel gives the orphan to the namespace's own pid 1. The
 * orphan enters the other namespaces, confines itself as any guest does (serve/guest.c) and returns to the interpreter.
 *
 * Loaded with ctypes.PyDLL, so that the caller holds the interpreter's lock. Single-threaded.
 */
#include "cell.h"
#include "frames.h"
#include "serve/forks.h"
#include "serve/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The interpreter's own; resolved in the program that loads this. */
extern void PyOS_BeforeFork(void);
extern void PyOS_AfterFork_Parent(void);
extern void PyOS_AfterFork_Child(void);

EXPORTED int zygote_serve(int socket_fd);
EXPORTED char *const *zygote_environment(void);

struct cell cell = {.helper_fd = -1, .sync_fd = -1, .zygote_fd = -1};

/* A packet, and what is in it. */
static uint8_t packet[FORK_BYTES_MAX];
static struct program program;
static int fds[FORK_FDS_MAX];
static size_t fd_count;

static void close_fds(void) {
  while (fd_count > 0) close(fds[--fd_count]);
}

/* One packet with its descriptors. Its length, 0 at the end, or -1. */
static ssize_t receive(int socket_fd) {
  union {
    struct cmsghdr header;
    uint8_t bytes[CMSG_SPACE(sizeof fds)];
  } control = {0};
  struct iovec data = {.iov_base = packet, .iov_len = sizeof packet};
  struct msghdr envelope = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control};
  ssize_t length = recvmsg(socket_fd, &envelope, MSG_CMSG_CLOEXEC);
  if (length < 0) return -1;
  for (struct cmsghdr *part = CMSG_FIRSTHDR(&envelope); part; part = CMSG_NXTHDR(&envelope, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    fd_count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(fds, CMSG_DATA(part), fd_count * sizeof(int));
  }
  errno = EMSGSIZE;
  return envelope.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : length;
}

/* Where its descriptors begin, by what they are. */
struct birth {
  uint64_t namespaces;
  uint32_t joins;
  int guest_fds[GUEST_FDS];
};

static bool take_fds(struct birth *birth) {
  size_t expected = birth->joins + (size_t)GUEST_FDS - ((program.flags & SPAWN_HAS_DESCRIPTOR_3) ? 0 : 1);
  for (int i = 0; i < NAMESPACE_KINDS; i++) expected += (birth->namespaces & namespace_kinds[i].flag) != 0;
  if (fd_count != expected || !(birth->namespaces & namespace_kinds[0].flag)) return false;
  size_t next = fd_count;
  birth->guest_fds[EXEC_FD] = fds[--next];
  birth->guest_fds[GUEST_CHANNEL_FD] = (program.flags & SPAWN_HAS_DESCRIPTOR_3) ? fds[--next] : -1;
  for (int i = GUEST_CHANNEL_FD; i-- > 0;) birth->guest_fds[i] = fds[--next];
  return true;
}

static bool take_birth(struct birth *birth, size_t length) {
  static struct spawn ignored; /* what pid 1 keeps for itself */
  struct reader reader = reader_of(packet, length);
  uint32_t bytes = 0;
  struct reader numbers = reader_of(take_bytes(&reader, &bytes), 0);
  numbers.left = bytes;
  birth->namespaces = take_u32(&numbers);
  birth->joins = take_u32(&numbers);
  cell.guest_changes_ids = take_u32(&numbers) != 0;
  cell.guest_uid = take_u32(&numbers);
  cell.guest_gid = take_u32(&numbers);
  cell.guest_root = take_string(&reader);
  cell.filter = take_bytes(&reader, &cell.filter_bytes);
  const uint8_t *landlock = take_bytes(&reader, &bytes);
  cell.landlock = reader_of(landlock, bytes);
  cell.has_landlock = true;
  const uint8_t *request = take_bytes(&reader, &bytes);
  if (!reader_done(&reader) || !reader_done(&numbers) || birth->joins > CGROUPS_MAX) return false;
  struct reader spawn = reader_of(request, bytes);
  program = (struct program){0};
  return cell.filter_bytes > 0 && take_program(&program, &ignored, &spawn) && take_fds(birth);
}

/* ---- in the fork ---- */

static const char *enter_space(const struct birth *birth) {
  size_t next = 0;
  int spaces[NAMESPACE_KINDS];
  for (int i = 0; i < NAMESPACE_KINDS; i++) {
    spaces[i] = (birth->namespaces & namespace_kinds[i].flag) ? fds[next++] : -1;
  }
  /* First of all, so that what it touches from now on is its own to pay for. */
  for (uint32_t i = 0; i < birth->joins; i++) {
    if (write(fds[next++], "0", 1) != 1) return "join a cgroup";
  }
  for (int i = 1; i < NAMESPACE_KINDS; i++) { /* it is born in its pid namespace */
    if (spaces[i] >= 0 && setns(spaces[i], (int)namespace_kinds[i].flag) < 0) return "enter a namespace";
  }
  return NULL;
}

/* The exec pipe is closed when this has succeeded: the space's pid 1 takes its end for the beginning of the guest. */
static void become_guest(const struct birth *birth) {
  int report_fd = birth->guest_fds[EXEC_FD];
  const char *failed = enter_space(birth);
  if (!failed && setsid() < 0) failed = "start a session";
  if (!failed) failed = arrange_descriptors(birth->guest_fds);
  if (!failed) report_fd = EXEC_FD;
  if (!failed) failed = confine_guest(&program);
  /* As after execve, or it could not look at its own /proc. */
  if (!failed && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) failed = "become dumpable";
  if (failed) {
    report_failed_step(report_fd, failed);
    _exit(127);
  }
  close(EXEC_FD);
}

/* ---- in the zygote ---- */

/* The first thing on the exec pipe: a zero in the place of an errno, and the fork's number in its namespace. */
static _Noreturn void announce_and_end(int fd, pid_t pid) {
  uint8_t report[8];
  put_u32(report, 0);
  put_u32(report + 4, (uint32_t)pid);
  if (pid < 0) report_failed_step(fd, "fork once more");
  else (void)write_exactly(fd, report, sizeof report);
  _exit(0);
}

/*
 * True in the new guest. The process between zygote and guest is born by vfork, which shares the zygote's memory instead of
 * copying its page tables; it does nothing but fork and end. The guest has a copy of the stack as that one left it, and
 * so it may return, which that one must not.
 */
static bool bear(const struct birth *birth, int own_pid_namespace) {
  int exec_fd = birth->guest_fds[EXEC_FD];
  if (setns(fds[0], CLONE_NEWPID) < 0) {
    report_failed_step(exec_fd, "enter a pid namespace");
    return false;
  }
  PyOS_BeforeFork();
  pid_t pid = vfork();
  if (pid == 0) {
    pid_t guest = fork();
    if (guest != 0) announce_and_end(exec_fd, guest);
    become_guest(birth);
    PyOS_AfterFork_Child();
    return true;
  }
  if (pid < 0) report_failed_step(exec_fd, "fork the zygote");
  close_fds(); /* or pipes would not end with those who use them */
  /* Else the next fork would fail: the namespace is dead as soon as its pid 1 is. */
  bool is_back = setns(own_pid_namespace, CLONE_NEWPID) == 0;
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  PyOS_AfterFork_Parent();
  if (!is_back) _exit(1);
  return false;
}

/* Returns 0 in each guest, with its descriptors placed and itself confined; 1 when nobody can ask any more; else -1. */
int zygote_serve(int socket_fd) {
  int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
  if (own < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -1;
  for (;;) {
    struct birth birth;
    ssize_t length = receive(socket_fd);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return length == 0 ? 1 : -1;
    if (take_birth(&birth, (size_t)length) && bear(&birth, own)) return 0;
    close_fds();
  }
}

/* What the space's pid 1 said: `NAME=value` each, NULL last. */
char *const *zygote_environment(void) { return program.environment; }
