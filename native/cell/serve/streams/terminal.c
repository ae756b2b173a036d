/*
 * Terminals: a pair of the space's own devpts, whose owner is the guest, because files are touched with its ids.
 * Source: pts(4), ioctl_tty(2).
 */
#include "serve/streams/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

int open_terminal(int *guest_end) {
  int unlocked = 0;
  int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return -1;
  *guest_end = ioctl(fd, TIOCSPTLCK, &unlocked) < 0 ? -1 : ioctl(fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*guest_end >= 0) return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

bool resize_terminal(int fd, uint32_t columns, uint32_t rows) {
  if (columns == 0 || rows == 0 || columns > USHRT_MAX || rows > USHRT_MAX) return false;
  struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
  return ioctl(fd, TIOCSWINSZ, &size) == 0;
}
