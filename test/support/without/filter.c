/*
 * System calls that fail as they do on other machines. Each rule ends in a verdict, or leaves the call number in the
 * accumulator.
 */
#define _GNU_SOURCE
#include "without.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "There are cells on x86-64 and arm64 only."
#endif

/*
 * The same numbers on both architectures. They are defined here because a distribution's headers may be older than its
 * kernel.
 */
enum {
  CALL_OPEN_TREE = 428,
  CALL_MOVE_MOUNT = 429,
  CALL_FSOPEN = 430,
  CALL_FSCONFIG = 431,
  CALL_FSMOUNT = 432,
  CALL_FSPICK = 433,
  CALL_CLONE3 = 435,
  CALL_MOUNT_SETATTR = 442,
  CALL_LANDLOCK_CREATE_RULESET = 444,
  CALL_LANDLOCK_ADD_RULE = 445,
  CALL_LANDLOCK_RESTRICT_SELF = 446,
};

static struct sock_filter program[256];
static unsigned short length;
static bool listens;
/* Filters from files, each applied unchanged. */
static const char *files[8];
static int file_count;

static void emit(uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
  program[length++] = (struct sock_filter){code, if_true, if_false, value};
}

static void load(size_t offset) { emit(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset); }
static void verdict(uint32_t action) { emit(BPF_RET | BPF_K, 0, 0, action); }
static void load_number(void) { load(offsetof(struct seccomp_data, nr)); }
/* Loads the low half: both architectures are little-endian, and these arguments have only 32 bits. */
static void load_argument(int index) { load(offsetof(struct seccomp_data, args) + 8 * (size_t)index); }
static uint32_t failing(int error) { return SECCOMP_RET_ERRNO | (uint32_t)error; }

void start_filter(void) {
  load(offsetof(struct seccomp_data, arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NATIVE_ARCHITECTURE);
  verdict(failing(ENOSYS));
  load_number();
#if defined(__x86_64__)
  emit(BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000); /* x32 */
  verdict(failing(ENOSYS));
#endif
}

static void refuse(long number, int error) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)number);
  verdict(failing(error));
}

void refuse_clone3(void) { refuse(CALL_CLONE3, ENOSYS); }

void refuse_mounts(void) {
  static const long calls[] = {
      SYS_mount,     SYS_umount2,    SYS_pivot_root, CALL_OPEN_TREE,     CALL_MOVE_MOUNT, CALL_FSOPEN,
      CALL_FSCONFIG, CALL_FSMOUNT,   CALL_FSPICK,    CALL_MOUNT_SETATTR,
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) refuse(calls[i], EPERM);
}

void refuse_namespaces(void) {
  refuse_mounts();
  refuse(SYS_unshare, EPERM);
  refuse(SYS_setns, EPERM);
  refuse(SYS_sethostname, EPERM);
  refuse(SYS_setdomainname, EPERM);
  refuse_clone3(); /* a filter cannot read its flags, which are in memory; libc falls back to clone */
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, SYS_clone);
  load_argument(0);
  emit(BPF_JMP | BPF_JSET | BPF_K, 0, 1,
       CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET);
  verdict(failing(EPERM));
  verdict(SECCOMP_RET_ALLOW);
}

void refuse_landlock(void) {
  for (long number = CALL_LANDLOCK_CREATE_RULESET; number <= CALL_LANDLOCK_RESTRICT_SELF; number++) refuse(number, ENOSYS);
}

/*
 * ABI 5: the attribute has only two sets of rights, only the version can be queried, and the restriction has no flags.
 */
enum { LANDLOCK_ABI = 5, LANDLOCK_ATTRIBUTE_BYTES = 16, ASK_FOR_VERSION = 1 };

void refuse_landlock_scopes(void) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 9, CALL_LANDLOCK_CREATE_RULESET);
  load_argument(2);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, ASK_FOR_VERSION);
  verdict(SECCOMP_RET_USER_NOTIF); /* a filter cannot return a number, so answer_version() does */
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
  verdict(failing(EINVAL));
  load_argument(1);
  emit(BPF_JMP | BPF_JGT | BPF_K, 0, 1, LANDLOCK_ATTRIBUTE_BYTES);
  verdict(failing(E2BIG));
  verdict(SECCOMP_RET_ALLOW);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 0, 4, CALL_LANDLOCK_RESTRICT_SELF);
  load_argument(1);
  emit(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0);
  verdict(failing(EINVAL));
  verdict(SECCOMP_RET_ALLOW);
  listens = true;
}

/* A separate process, which is no child of the command, answers queries for Landlock's version. */

static void send_descriptor(int through, int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  check(sendmsg(through, &message, 0), "send a descriptor");
}

static int receive_descriptor(int from) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec bytes = {&byte, 1};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  int fd = -1;
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) <= 0 || CMSG_FIRSTHDR(&message) == NULL) _exit(0);
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

/* Ends when the last process with the filter has ended. */
static _Noreturn void answer_version(int from) {
  int listener = receive_descriptor(from);
  /* Closes the command's streams. */
  syscall(SYS_close_range, 0, listener - 1, 0);
  syscall(SYS_close_range, listener + 1, ~0U, 0);
  setsid();
  struct pollfd polled = {.fd = listener, .events = POLLIN};
  while (poll(&polled, 1, -1) > 0 && !(polled.revents & POLLHUP)) {
    struct seccomp_notif question = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0) continue; /* the caller has died meanwhile */
    struct seccomp_notif_resp answer = {.id = question.id, .val = LANDLOCK_ABI};
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  _exit(0);
}

/* Forks twice, so that the command has no child that it did not start. */
static int start_answering(void) {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), "reach the one who answers");
  pid_t between = fork();
  check(between, "fork");
  if (between > 0) {
    close(pair[1]);
    waitpid(between, NULL, 0);
    return pair[0];
  }
  if (fork() != 0) _exit(0);
  close(pair[0]);
  answer_version(pair[1]);
}

static long put_on(struct sock_fprog *filter, unsigned flags) {
  long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
  if (result >= 0 || errno != EACCES) return result;
  /* Without CAP_SYS_ADMIN a filter requires no_new_privs. */
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter);
}

void refuse_what_file_says(const char *path) {
  errno = E2BIG;
  if (file_count == (int)(sizeof files / sizeof *files)) give_up(path);
  files[file_count++] = path;
}

static void put_on_file(const char *path) {
  static struct sock_filter instructions[BPF_MAXINSNS];
  FILE *file = fopen(path, "re");
  if (file == NULL) give_up(path);
  size_t count = fread(instructions, sizeof *instructions, BPF_MAXINSNS, file);
  fclose(file);
  check(put_on(&(struct sock_fprog){.len = (unsigned short)count, .filter = instructions}, 0), path);
}

void apply_filter(void) {
  verdict(SECCOMP_RET_ALLOW);
  int answering = listens ? start_answering() : -1;
  unsigned flags = listens ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  long result = put_on(&(struct sock_fprog){.len = length, .filter = program}, flags);
  check(result, "apply the filter");
  if (listens) {
    send_descriptor(answering, (int)result);
    close((int)result);
    close(answering);
  }
  for (int i = 0; i < file_count; i++) put_on_file(files[i]);
}
