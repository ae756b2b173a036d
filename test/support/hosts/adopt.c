/*
 * Starts a command and, as a child subreaper, becomes the parent of every orphan below it. So it sees each process that
 * outlives the command, and its end.
 *
 * Usage: adopt COMMAND [ARGUMENT...], with the command's stdout at descriptor 3.
 * Reads from stdin:  k  SIGKILL to the command      t  SIGTERM to it      the end: SIGKILL
 * Writes to stdout:  started PID                    at once
 *                    ended STATUS                   when the command has ended; as of wait(2)
 *                    alone MICROSECONDS             when no process is left, counted from the last signal
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what) {
  perror(what);
  exit(125);
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static _Noreturn void become(char **command, const sigset_t *mask) {
  sigprocmask(SIG_SETMASK, mask, NULL);
  if (dup2(3, 1) < 0) give_up("descriptor 3");
  close(3);
  if (freopen("/dev/null", "r", stdin) == NULL) give_up("/dev/null");
  execvp(command[0], command);
  give_up(command[0]);
}

/* Reaps all processes that have ended; false if no child is left. */
static bool reap(pid_t child, bool *child_ended) {
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(-1, &status, WNOHANG | __WALL);
    if (ended == 0) return true;
    if (ended < 0) return errno == EINTR;
    if (ended != child) continue;
    *child_ended = true;
    printf("ended %d\n", status);
  }
}

int main(int count, char **words) {
  if (count < 2) {
    fprintf(stderr, "usage: adopt COMMAND [ARGUMENT...]\n");
    return 125;
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  sigset_t children, before;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &children, &before) < 0) give_up("sigprocmask");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) give_up("subreaper");
  int deaths = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  if (deaths < 0) give_up("signalfd");
  pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child == 0) become(words + 1, &before);
  close(3);
  printf("started %d\n", child);
  int64_t signalled = now_us();
  bool child_ended = false;
  struct pollfd polled[2] = {{.fd = 0, .events = POLLIN}, {.fd = deaths, .events = POLLIN}};
  for (;;) {
    if (poll(polled, 2, -1) < 0 && errno != EINTR) give_up("poll");
    if (polled[0].revents) {
      char letter = 'k';
      if (read(0, &letter, 1) <= 0) polled[0].fd = -1;
      signalled = now_us();
      /* Not reaped yet, so its pid cannot have been reused. */
      if (!child_ended) kill(child, letter == 't' ? SIGTERM : SIGKILL);
    }
    struct signalfd_siginfo news;
    while (read(deaths, &news, sizeof news) > 0) continue;
    if (reap(child, &child_ended)) continue;
    printf("alone %lld\n", (long long)(now_us() - signalled));
    return 0;
  }
}
