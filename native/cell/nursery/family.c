/*
 * Pid 1 of a cell in which guests are forked: it starts the zygote, an interpreter that never runs guest code, and then
 * serves as a nursery (nursery.c) for spaces: sets of namespaces inside this cell with their own pid 1, whose guest is
 * a fork of the zygote. The host reaches it by an abstract name in the host's network namespace, which everybody there
 * can read, so each connection has to send a secret.
 */
#include "nursery/family.h"
#include "cell.h"
#include "facts.h"
#include "filters.h"
#include "frames.h"
#include "ids.h"
#include "record.h"
#include "nursery/connections.h"
#include "nursery/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  BACKLOG_MAX = 256,
  ZYGOTE_FD = 3,  /* in the zygote */
  KEPT_FD = 64,   /* here and in launchers of spaces: the zygote's socket; the relay's; then the folders of cgroups */
  FOLDERS_FD = KEPT_FD + 2,
  ARGUMENTS_OF_ZYGOTE_MAX = 256,
  WORD_BYTES_MAX = 200,
  /* The first byte of its first message. A message that begins otherwise is the interpreter's own error text. */
  READY = '!',       /* facts follow */
  FAILED_STEP = '?', /* an errno and the name of our step follow */
};

/* In the host's network: done before the namespaces are made. */
void step_listen(struct reader *record) {
  uint32_t slot = take_u32(record);
  const char *name = take_string(record);
  require_whole(record);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(name);
  errno = EPROTO;
  if (length == 0 || length > sizeof address.sun_path - 1) fail("read the cell's name");
  memcpy(address.sun_path + 1, name, length);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(fd, "open the cell's socket");
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  check(bind(fd, (struct sockaddr *)&address, bytes), "take the cell's name");
  check(listen(fd, BACKLOG_MAX), "listen");
  keep_in_slot(slot, fd);
}

struct zygote {
  uint64_t capabilities;
  const char *folder;
  const char *file;
  char *arguments[ARGUMENTS_OF_ZYGOTE_MAX]; /* argv, NULL, environment, NULL */
  char **environment;
};

static char **take_strings(char **into, const char *const *end, struct reader *record) {
  uint32_t count = take_u32(record);
  errno = EPROTO;
  if (record->bad || count >= (size_t)(end - (const char *const *)into)) fail("read the zygote's arguments");
  for (uint32_t i = 0; i < count; i++) *into++ = (char *)(uintptr_t)take_string(record);
  *into++ = NULL;
  return into;
}

static void take_zygote(struct zygote *zygote, struct reader *record) {
  zygote->capabilities = take_u64(record);
  zygote->folder = take_string(record);
  zygote->file = take_string(record);
  const char *const *end = (const char *const *)zygote->arguments + ARGUMENTS_OF_ZYGOTE_MAX;
  zygote->environment = take_strings(zygote->arguments, end, record);
  take_strings(zygote->environment, end, record);
}

/* Set before the zygote's filter, which does not let it or its forks change this limit. */
static bool bound_cores(void) {
  struct rlimit one = {1, 1};
  return setrlimit(RLIMIT_CORE, &one) == 0;
}

static const char *become_zygote(const struct zygote *zygote, int fd) {
  sigset_t none;
  sigemptyset(&none);
  if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || signal(SIGPIPE, SIG_DFL) == SIG_ERR) return "reset signals";
  if (setsid() < 0) return "start a session";
  if (dup2(fd, ZYGOTE_FD) < 0) return "place the zygote's socket";
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  int nobody[2]; /* a pipe, as guests have there; nobody reads it */
  if (null < 0 || pipe2(nobody, O_CLOEXEC) < 0) return "make streams";
  if (dup2(null, 0) < 0 || dup2(nobody[1], 1) < 0 || dup2(nobody[1], 2) < 0) return "place a stream";
  if (syscall(SYS_close_range, ZYGOTE_FD + 1, ~0U, 0) < 0) return "close the other descriptors";
  if (!bound_cores()) return "set an rlimit";
  if (chdir(zygote->folder) < 0) return "enter the working folder";
  if (!raise_ambient_capabilities(zygote->capabilities)) return "pass on capabilities";
  if (!restrict_with_seccomp()) return "apply seccomp";
  execve(zygote->file, zygote->arguments, zygote->environment);
  return "execute the zygote";
}

static _Noreturn void run_zygote(const struct zygote *zygote, int fd) {
  char message[WORD_BYTES_MAX] = {FAILED_STEP};
  const char *step = become_zygote(zygote, fd);
  put_u32((uint8_t *)message + 1, (uint32_t)errno);
  size_t length = strlen(step);
  if (length > sizeof message - 5) length = sizeof message - 5;
  memcpy(message + 5, step, length);
  (void)!write(fcntl(fd, F_GETFD) < 0 ? ZYGOTE_FD : fd, message, 5 + length);
  _exit(127);
}

/* Its first packet has the facts if everything was imported, otherwise the reason for the failure. */
static const char *await_zygote(int fd) {
  static char message[WORD_BYTES_MAX + 1];
  ssize_t count;
  do count = read(fd, message, WORD_BYTES_MAX);
  while (count < 0 && errno == EINTR);
  if (count < 0) fail("read from the zygote");
  message[count] = 0;
  if (message[0] == READY) return message + 1;
  struct reader failure = reader_of((const uint8_t *)message + 1, 4);
  errno = (int)take_u32(&failure);
  if (message[0] == FAILED_STEP) fail(message + 5);
  errno = 0; /* reported by the interpreter, not by the kernel */
  fail(count == 0 ? "The zygote ended." : message);
}

static void tell_host(const char *more_facts) {
  char facts[4096];
  size_t more = strlen(more_facts);
  size_t own = collect_facts(facts, sizeof facts - more);
  memcpy(facts + own, more_facts, more);
  if (!write_frame(CONTROL_FD, (struct frame){.type = FRAME_READY, .length = (uint32_t)(own + more)}, facts)) _exit(0);
}

static int keep_at(int fd, int number) {
  int kept = fcntl(fd, F_DUPFD_CLOEXEC, number);
  errno = EBUSY;
  if (kept != number) fail("keep a descriptor");
  close(fd);
  return kept;
}

static int start_zygote(const struct zygote *zygote) {
  int pair[2];
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "reach the zygote");
  pid_t pid = fork();
  check(pid, "fork the zygote");
  if (pid == 0) run_zygote(zygote, pair[1]);
  close(pair[1]);
  return keep_at(pair[0], KEPT_FD);
}

void step_family(struct reader *record) {
  static struct zygote zygote;
  static uint8_t secret[SECRET_BYTES];
  int listen_fd = take_from_slot(take_u32(record));
  uint32_t first_folder = take_u32(record);
  uint32_t folders = take_u32(record);
  uint32_t secret_bytes = 0;
  const uint8_t *given = take_bytes(record, &secret_bytes);
  zygote = (struct zygote){0};
  take_zygote(&zygote, record);
  require_whole(record);
  errno = EPROTO;
  if (secret_bytes != SECRET_BYTES || folders > CGROUPS_MAX) fail("read the family");
  if (getpid() != 1) fail("be pid 1");
  memcpy(secret, given, SECRET_BYTES);
  explicit_bzero((void *)(uintptr_t)given, SECRET_BYTES); /* launchers are forks of this process */

  /* Spaces of a sandbox execute programs; there is no interpreter to fork. */
  bool has_zygote = zygote.arguments[0] != NULL;
  int zygote_fd = has_zygote ? start_zygote(&zygote) : -1;
  for (uint32_t i = 0; i < folders; i++) cell.slots[i] = keep_at(take_from_slot(first_folder + i), FOLDERS_FD + (int)i);
  int relay_fd = cell.relay_fd != 0 ? keep_at(cell.relay_fd, KEPT_FD + 1) : 0; /* each space has its own door */
  tell_host(has_zygote ? await_zygote(zygote_fd) : "");
  run_family(listen_fd, secret, zygote_fd); /* returns in each child that is to become a launcher */
  explicit_bzero(secret, SECRET_BYTES);
  struct cell fresh = {.record = UINT32_MAX, .sync_fd = -1, .zygote_fd = zygote_fd, .relay_fd = relay_fd};
  fresh.is_new_launcher = true;
  for (uint32_t i = 0; i < folders; i++) fresh.slots[i] = cell.slots[i];
  cell = fresh;
  check(syscall(SYS_close_range, CHANNEL_FD + 1, KEPT_FD - 1, 0), "close the cell's descriptors");
  /* A reserved descriptor that is not in use may be another launcher's connection. */
  if (!has_zygote) close(KEPT_FD);
  if (relay_fd == 0) close(KEPT_FD + 1);
  check(syscall(SYS_close_range, FOLDERS_FD + (int)folders, ~0U, 0), "close the cell's descriptors");
}
