/*
 * The nursery: forks launchers for its host. Starting a program costs a large host milliseconds in which it does
 * nothing else, while a fork of this small process costs a tenth of one. The host connects to an abstract name once for
 * each socket of a launcher and says in a greeting which launcher it is for and as which descriptor. Nobody else is
 * let in. A launcher holds the sockets of its own cell and needs its nursery no more.
 */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  GREETING_BYTES = FRAME_HEADER_BYTES + 2, /* the frame's id names the launcher; payload: u8 descriptor, u8 has a channel */
  WAITING_MAX = 192,    /* connections without a launcher yet; further ones wait in the backlog */
  LAUNCHERS_MAX = 8192, /* alive at one time */
  BACKLOG_MAX = 4096,   /* connections nobody has looked at; the kernel's own bound is often lower */
  PAUSE_MS = 10,        /* before the next connection is taken when there was no descriptor for one */
};

/* A connection of the host's. `role` is the descriptor that it will be in a launcher, 0 until it has said so. */
struct waiting {
  int fd;
  uint32_t id;
  uint8_t role;
  bool has_channel;
  uint64_t arrival; /* ascending */
  uint8_t greeting[GREETING_BYTES + SECRET_BYTES];
  size_t greeting_bytes;
};

struct launcher {
  uint32_t id;
  pid_t pid;
};

static struct waiting waiting[WAITING_MAX];
static size_t waiting_count;
static struct launcher launchers[LAUNCHERS_MAX];
static size_t launcher_count;
static pid_t host;
static int listen_fd;
static int signal_fd;
static bool is_out_of_descriptors;
static const uint8_t *secret; /* what a connection has to know where the kernel cannot say who it is; or NULL */
static int zygote_fd = -1;    /* its end means that there is nobody to fork any more */

static void tell_host(uint8_t type, uint32_t id) {
  if (!write_frame(CONTROL_FD, (struct frame){.type = type, .id = id}, NULL)) _exit(0); /* the host is gone */
}

/* ---- connections ---- */
static void drop_waiting(size_t index) {
  close(waiting[index].fd);
  waiting[index] = waiting[--waiting_count];
}

static void drop_all_of(uint32_t id) {
  for (size_t i = waiting_count; i-- > 0;) {
    if (waiting[i].role != 0 && waiting[i].id == id) drop_waiting(i);
  }
}

/* The kernel wrote down who connected; a name can be read by everybody. What it wrote has no meaning in a cell. */
static bool is_host(int fd) {
  if (secret) return true; /* until it has greeted */
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return false;
  return peer.pid == host && peer.uid == geteuid();
}

/* Strangers that say nothing must not keep the host out: who has been silent for longest goes. */
static void make_room(void) {
  if (waiting_count < WAITING_MAX) return;
  size_t oldest = waiting_count;
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].role != 0) continue;
    if (oldest == waiting_count || waiting[i].arrival < waiting[oldest].arrival) oldest = i;
  }
  if (oldest < waiting_count) drop_waiting(oldest);
}

static size_t greeting_length(void) { return GREETING_BYTES + (secret ? SECRET_BYTES : 0); }

/* In a time that does not tell how much of it was right. */
static bool knows_secret(const uint8_t *said) {
  uint8_t difference = 0;
  for (int i = 0; secret && i < SECRET_BYTES; i++) difference |= (uint8_t)(said[i] ^ secret[i]);
  return difference == 0;
}

static void accept_waiting(void) {
  static uint64_t arrivals;
  if (secret) make_room();
  while (waiting_count < WAITING_MAX) {
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
      is_out_of_descriptors = errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
      return;
    }
    if (is_host(fd)) {
      waiting[waiting_count++] = (struct waiting){.fd = fd, .arrival = arrivals++};
    } else {
      close(fd);
    }
  }
}

static int find_waiting(uint32_t id, uint8_t role) {
  for (size_t i = 0; i < waiting_count; i++) {
    if (waiting[i].role == role && waiting[i].id == id) return waiting[i].fd;
  }
  return -1;
}

/* Reads what has arrived of a greeting, and not a byte more: the plan behind it is the launcher's. False: drop it. */
static bool read_greeting(struct waiting *one) {
  size_t missing = greeting_length() - one->greeting_bytes;
  ssize_t count = recv(one->fd, one->greeting + one->greeting_bytes, missing, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  one->greeting_bytes += (size_t)count;
  if (one->greeting_bytes < greeting_length()) return true;
  struct frame frame = frame_header(one->greeting);
  uint8_t role = one->greeting[FRAME_HEADER_BYTES];
  bool is_role = role == REPORT_FD || role == CONTROL_FD || role == CHANNEL_FD;
  if (frame.type != FRAME_GREETING || frame.length != greeting_length() - FRAME_HEADER_BYTES || !is_role) return false;
  if (!knows_secret(one->greeting + GREETING_BYTES) || find_waiting(frame.id, role) >= 0) return false;
  explicit_bzero(one->greeting + GREETING_BYTES, SECRET_BYTES); /* launchers are forks of this process */
  one->id = frame.id;
  one->has_channel = one->greeting[FRAME_HEADER_BYTES + 1] != 0;
  one->role = role;
  return true;
}

/* ---- launchers ---- */

/* The child goes on like a program that has just been started: the rest is closed before it reads its plan. */
static void become_launcher(const int fds[3]) {
  check(dup2(fds[0], REPORT_FD), "take the report socket");
  check(dup2(fds[1], CONTROL_FD), "take the control socket");
  if (fds[2] >= 0) check(dup2(fds[2], CHANNEL_FD), "take the channel");
  check(prctl(PR_SET_NAME, "launcher", 0, 0, 0), "take a name");
  /* As it is after execve; its own /proc has to be writable until the id maps are written. */
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
static bool try_to_launch(uint32_t id, bool has_channel) {
  int fds[3] = {find_waiting(id, REPORT_FD), find_waiting(id, CONTROL_FD), has_channel ? find_waiting(id, CHANNEL_FD) : -1};
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
  drop_all_of(id);
  return false;
}

static void reap_launchers(void) {
  struct signalfd_siginfo ignored[8];
  (void)!read(signal_fd, ignored, sizeof ignored);
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
static void obey_host(void) {
  uint8_t header[FRAME_HEADER_BYTES];
  if (!read_exactly(CONTROL_FD, header, sizeof header)) _exit(0); /* the host is gone, or wants us gone */
  struct frame frame = frame_header(header);
  errno = EPROTO;
  if (frame.type != FRAME_KILL || frame.length != 0) fail("parse a frame");
  for (size_t i = 0; i < launcher_count; i++) {
    if (launchers[i].id == frame.id) (void)kill(launchers[i].pid, SIGKILL);
  }
}

/* ---- the loop ---- */

static void listen_for_children(void) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  check(sigprocmask(SIG_BLOCK, &child, NULL), "block SIGCHLD");
  signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  check(signal_fd, "open the signal descriptor");
}

static void open_nursery(uint32_t name_bytes) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  errno = EPROTO;
  if (name_bytes == 0 || name_bytes > sizeof address.sun_path - 1) fail("read the nursery's name");
  if (!read_exactly(CONTROL_FD, address.sun_path + 1, name_bytes)) _exit(0);
  check(prctl(PR_SET_NAME, "nursery", 0, 0, 0), "take a name");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become undumpable");
  /* Besides the end of the control socket, which a stopped nursery would not see. */
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "die with the host");
  host = getppid();
  listen_for_children();
  listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(listen_fd, "open the nursery's socket");
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name_bytes);
  check(bind(listen_fd, (struct sockaddr *)&address, length), "take the nursery's name");
  check(listen(listen_fd, BACKLOG_MAX), "listen");
  tell_host(FRAME_READY, 0);
}

/* Those that have greeted wait for their siblings; a host that gives up closes them. True in a child. */
static bool serve_waiting(const struct pollfd *polled, size_t count) {
  for (size_t i = count; i-- > 0;) {
    if (polled[i].revents == 0) continue;
    /* Launching and dropping move entries about: this one may stand elsewhere by now, or be gone. */
    size_t at = 0;
    while (at < waiting_count && waiting[at].fd != polled[i].fd) at++;
    if (at == waiting_count) continue;
    if (waiting[at].role != 0 || !read_greeting(&waiting[at])) {
      drop_waiting(at);
    } else if (waiting[at].role != 0 && try_to_launch(waiting[at].id, waiting[at].has_channel)) {
      return true;
    }
  }
  return false;
}

static void lose_zygote(void) {
  zygote_fd = -1; /* the descriptor stays: launchers have theirs by number */
  tell_host(FRAME_BARREN, 0);
}

/* True in a child that is to become a launcher. */
static bool nurse_once(void) {
  enum { HOST, CHILDREN, NEW, ZYGOTE, OWN };
  struct pollfd polled[OWN + WAITING_MAX];
  bool takes_more = (waiting_count < WAITING_MAX || secret) && !is_out_of_descriptors;
  polled[HOST] = (struct pollfd){.fd = CONTROL_FD, .events = POLLIN};
  polled[CHILDREN] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
  polled[NEW] = (struct pollfd){.fd = takes_more ? listen_fd : -1, .events = POLLIN};
  polled[ZYGOTE] = (struct pollfd){.fd = zygote_fd};
  size_t count = waiting_count;
  for (size_t i = 0; i < count; i++) {
    polled[OWN + i] = (struct pollfd){.fd = waiting[i].fd, .events = waiting[i].role == 0 ? POLLIN : 0};
  }
  if (poll(polled, OWN + count, is_out_of_descriptors ? PAUSE_MS : -1) < 0 && errno != EINTR) fail("wait for the host");
  is_out_of_descriptors = false;
  if (polled[HOST].revents) obey_host();
  if (polled[CHILDREN].revents) reap_launchers();
  if (polled[ZYGOTE].revents) lose_zygote();
  if (serve_waiting(polled + OWN, count)) return true;
  if (polled[NEW].revents) accept_waiting();
  return false;
}

void run_nursery(struct frame frame) {
  open_nursery(frame.length);
  while (!nurse_once()) continue;
}

void run_family(int listening_fd, const uint8_t own_secret[SECRET_BYTES], int socket_of_zygote) {
  listen_fd = listening_fd;
  secret = own_secret;
  zygote_fd = socket_of_zygote;
  waiting_count = launcher_count = 0; /* of the nursery that this process is a fork of */
  listen_for_children();
  while (!nurse_once()) continue;
}
