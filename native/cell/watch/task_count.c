/*
 * How many processes and threads the kernel counts for this user. If guests have the same uid, this number is added to
 * their limit.
 * Source: getrlimit(2), RLIMIT_NPROC.
 */
#include "watch/task_count.h"
#include "cell.h"
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Finds out how many processes and threads of this uid the kernel counts, including those that other containers hide:
 * it searches for the smallest limit with which a fork still works. Runs in its own process, because it lowers the
 * limit.
 */
static uint32_t probe_task_count(void) {
  enum { COUNT_MAX = 1 << 17 };
  uint32_t low = 1;
  uint32_t high = COUNT_MAX;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NPROC, &limit) < 0) return 0;
    limit.rlim_cur = middle < limit.rlim_max ? middle : limit.rlim_max;
    if (setrlimit(RLIMIT_NPROC, &limit) < 0) return 0;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid > 0) while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    if (pid > 0) high = middle;
    else low = middle + 1;
  }
  return low - 2; /* without the counting process and the child that it could just start */
}

uint32_t tasks_besides_guests(void) {
  int answer[2];
  uint32_t count = 0;
  check(pipe2(answer, O_CLOEXEC), "ask for the number of processes");
  pid_t pid = fork();
  check(pid, "ask for the number of processes");
  if (pid == 0) {
    count = probe_task_count();
    _exit(write_exactly(answer[1], &count, sizeof count) ? 0 : 1);
  }
  close(answer[1]);
  errno = ENOMSG;
  if (!read_exactly(answer[0], &count, sizeof count)) fail("count this user's processes");
  close(answer[0]);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
  return count;
}
