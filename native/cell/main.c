/*
 * lazaret-cell: builds a cell from a plan, then is its pid 1.
 *
 * Usage: started by the host with descriptors 1 (report socket), 3 (control socket) and 4 (the guest's private channel,
 * or /dev/null). It takes no arguments and reads no environment. If it receives a name instead of a plan it becomes a
 * nursery, whose children continue here as if the host had started them.
 */
#include "cell.h"
#include "frames.h"
#include "build/plan.h"
#include "nursery/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Inherits nothing from the host: resets signal dispositions and umask, which no later fork changes. */
static void clean_inheritance(void) {
  for (int number = 1; number < NSIG; number++) {
    if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number <= 33)) continue; /* 32, 33: libc's own */
    if (signal(number, number == SIGPIPE ? SIG_IGN : SIG_DFL) == SIG_ERR) fail("reset signals");
  }
  umask(UMASK);
}

/* The same for descriptors, signal mask and session. A fork of a nursery begins here. */
static void clean_descriptors(void) {
  /* Without a channel its descriptor is still occupied, so that nothing else ever gets the number. */
  if (fcntl(CHANNEL_FD, F_GETFD) < 0) check(open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null");
  for (int fd = REPORT_FD; fd <= CHANNEL_FD; fd++) {
    check(fcntl(fd, F_SETFD, FD_CLOEXEC), "mark descriptors");
  }
  sigset_t none;
  sigemptyset(&none);
  check(sigprocmask(SIG_SETMASK, &none, NULL), "reset signal mask");
  check(setsid(), "start a session");
}

static struct frame receive_header(void) {
  uint8_t header[FRAME_HEADER_BYTES];
  if (!read_exactly(CONTROL_FD, header, sizeof header)) _exit(0); /* the host changed its mind */
  return frame_header(header);
}

static struct reader receive_plan(struct frame frame) {
  errno = EPROTO;
  if (frame.type != FRAME_PLAN || frame.length > PLAN_BYTES_MAX) fail("read the plan");
  uint8_t *plan = malloc(frame.length);
  if (!plan || !read_exactly(CONTROL_FD, plan, frame.length)) fail("read the plan");
  return reader_of(plan, frame.length);
}

/* A fork of a nursery closes what it has inherited from it before it reads its own plan. */
static struct frame begin_anew(void) {
  clean_descriptors();
  return receive_header();
}

int main(void) {
  check(syscall(SYS_close_range, CHANNEL_FD + 1, ~0U, 0), "close inherited descriptors");
  clean_inheritance();
  struct frame first = begin_anew();
  if (first.type == FRAME_NURSERY) {
    run_nursery(first.length); /* returns in a child that has its own sockets and still all of the nursery's */
    check(syscall(SYS_close_range, CHANNEL_FD + 1, ~0U, 0), "close the nursery's descriptors");
    first = begin_anew();
  }
  for (;;) {
    apply_plan(receive_plan(first)); /* forks at the clone record: the child continues, the parent becomes the stub */
    errno = EPROTO;
    if (!cell.is_new_launcher) fail("the plan does not end in serve");
    cell.is_new_launcher = false;
    first = begin_anew();
  }
}
