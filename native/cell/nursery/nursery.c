/*
 * The nursery: forks launchers for its host. Starting a program blocks a large host for milliseconds, while a fork of
 * this small process takes a tenth of a millisecond. The host connects to an abstract name once for each socket of a
 * launcher (connections.c); once all of them are there the launcher is forked (launchers.c).
 */
#include "nursery/nursery.h"
#include "cell.h"
#include "frames.h"
#include "nursery/connections.h"
#include "nursery/launchers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG_MAX = 4096 }; /* connections not yet accepted; the kernel's own bound is often lower */

static int signal_fd;
static int zygote_fd = -1; /* its end means that no guest can be forked any more */

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
  /* In addition to the end of the control socket, which a stopped nursery would not see. */
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "die with the host");
  listen_for_children();
  int listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  check(listen_fd, "open the nursery's socket");
  socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name_bytes);
  check(bind(listen_fd, (struct sockaddr *)&address, length), "take the nursery's name");
  check(listen(listen_fd, BACKLOG_MAX), "listen");
  open_connections(listen_fd, getppid(), NULL);
  tell_host(FRAME_READY, 0);
}

/* ---- the loop ---- */

static void obey_host(void) {
  uint8_t header[FRAME_HEADER_BYTES];
  if (!read_exactly(CONTROL_FD, header, sizeof header)) _exit(0); /* the host is gone, or wants us gone */
  struct frame frame = frame_header(header);
  errno = EPROTO;
  if (frame.type != FRAME_KILL || frame.length != 0) fail("parse a frame");
  kill_launcher(frame.id);
}

static void check_children(void) {
  struct signalfd_siginfo ignored[8];
  (void)!read(signal_fd, ignored, sizeof ignored);
  reap_launchers();
}

static void lose_zygote(void) {
  zygote_fd = -1; /* the descriptor stays: launchers have theirs by number */
  tell_host(FRAME_BARREN, 0);
}

/* True in a child that is to become a launcher. */
static bool read_connections(const struct pollfd *polled, size_t count) {
  for (size_t i = count; i-- > 0;) {
    struct greeted greeted;
    if (polled[i].revents == 0 || !read_connection(polled[i].fd, &greeted)) continue;
    if (try_to_launch(greeted.id, greeted.has_channel)) return true;
  }
  return false;
}

/* True in a child that is to become a launcher. */
static bool nurse_once(void) {
  enum { HOST, CHILDREN, ZYGOTE, NEW, OWN };
  struct pollfd polled[OWN + CONNECTIONS_MAX];
  int wait_ms;
  polled[HOST] = (struct pollfd){.fd = CONTROL_FD, .events = POLLIN};
  polled[CHILDREN] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
  polled[ZYGOTE] = (struct pollfd){.fd = zygote_fd};
  size_t count = poll_connections(polled + NEW, &wait_ms);
  if (poll(polled, OWN + count, wait_ms) < 0 && errno != EINTR) fail("wait for the host");
  if (polled[HOST].revents) obey_host();
  if (polled[CHILDREN].revents) check_children();
  if (polled[ZYGOTE].revents) lose_zygote();
  if (read_connections(polled + OWN, count)) return true;
  if (polled[NEW].revents) accept_connections();
  return false;
}

void run_nursery(uint32_t name_bytes) {
  open_nursery(name_bytes);
  while (!nurse_once()) continue;
}

void run_family(int listening_fd, const uint8_t *secret, int socket_of_zygote) {
  open_connections(listening_fd, 0, secret);
  forget_launchers(); /* of the nursery that this process is a fork of */
  zygote_fd = socket_of_zygote;
  listen_for_children();
  while (!nurse_once()) continue;
}
