/*
 * Chains of processes that each fork a successor and exit, so no pid lives long enough to be found. The first process
 * ignores SIGCHLD, so none of them becomes a zombie. `fork-chain <chains> [wake|kill]`: the chains also send SIGCONT,
 * or SIGKILL, to the first process once it is stopped. They end by themselves after five seconds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static time_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static int is_stopped(pid_t pid) {
  char text[512] = {0};
  snprintf(text, sizeof text, "/proc/%d/stat", pid);
  int file = open(text, O_RDONLY);
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  return length > 0 && strstr(text, ") T ") != NULL;
}

int main(int count, char **words) {
  int chains = count > 1 ? atoi(words[1]) : 1;
  int signal_number = count < 3 ? 0 : strcmp(words[2], "kill") == 0 ? SIGKILL : SIGCONT;
  pid_t first = getpid();
  time_t end = seconds() + 5;
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < chains; i++) {
    if (fork() != 0) continue;
    setsid();
    while (seconds() < end) {
      if (signal_number != 0 && is_stopped(first)) kill(first, signal_number);
      if (fork() > 0) _exit(0);
    }
    _exit(0);
  }
  for (;;) pause();
}
