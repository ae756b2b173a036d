/*
 * Starting a guest: its pipes, and its way from a fork of pid 1, or of the zygote, to foreign code (guest.c).
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct pipes {
  int output[2][2];
  int input[2];
  int exec[2];
};

/* Where the child says which step failed; it closes by itself when execve works. */
static int exec_report_fd;

static void list_guest_fds(int fds[GUEST_FDS], const struct pipes *pipes, uint32_t flags) {
  fds[0] = (flags & SPAWN_HAS_STDIN) ? pipes->input[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
  fds[1] = pipes->output[0][1];
  fds[2] = pipes->output[1][1];
  fds[GUEST_CHANNEL_FD] = (flags & SPAWN_HAS_CHANNEL) ? CHANNEL_FD : -1;
  fds[EXEC_FD] = pipes->exec[1];
}

static const char *reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  if (signal(SIGPIPE, SIG_DFL) == SIG_ERR || sigprocmask(SIG_SETMASK, &none, NULL) < 0) return "reset signals";
  return NULL;
}

/* Returns only when a step failed: its name, with errno set. */
static const char *become_guest(const struct program *program, const struct pipes *pipes) {
  if (setsid() < 0) return "start a session";
  int fds[GUEST_FDS];
  list_guest_fds(fds, pipes, program->flags);
  const char *failed = arrange_descriptors(fds);
  if (!failed) exec_report_fd = EXEC_FD;
  if (!failed) failed = reset_signals();
  if (!failed) failed = confine_guest(program);
  if (failed) return failed;
  if (program->flags & SPAWN_COLLECTS) {
    close(exec_report_fd);
    _exit(collect_files(program->file, program->arguments));
  }
  execve(program->file, program->arguments, program->environment);
  return "execute the program";
}

static _Noreturn void run_child(const struct program *program, const struct pipes *pipes) {
  exec_report_fd = pipes->exec[1];
  report_failed_step(exec_report_fd, become_guest(program, pipes));
  _exit(127);
}

static bool open_pipes(struct pipes *pipes) {
  return pipe2(pipes->output[0], O_CLOEXEC) == 0 && pipe2(pipes->output[1], O_CLOEXEC) == 0 &&
         pipe2(pipes->input, O_CLOEXEC) == 0 && pipe2(pipes->exec, O_CLOEXEC) == 0;
}

static int keep(int fd) {
  check(fcntl(fd, F_SETFL, O_NONBLOCK), "make a pipe non-blocking");
  return fd;
}

/* A fork of the zygote is asked for and comes later; its number is the first thing on the exec pipe. */
static void start_fork(const struct program *program, const struct pipes *pipes, struct reader request) {
  int fds[GUEST_FDS];
  list_guest_fds(fds, pipes, program->flags);
  if (!ask_for_fork(fds, request)) report_failed_step(pipes->exec[1], "ask the zygote");
  if (!(program->flags & SPAWN_HAS_STDIN)) close(fds[0]);
}

bool start_spawn(struct spawn *spawn, struct reader *request) {
  static struct program program;
  program = (struct program){0};
  struct reader whole = *request;
  /* Before its deadline is set: a guest that reaches it has run for no less, and so it was the deadline that ended it. */
  spawn->started_us = now_us();
  if (!take_program(&program, spawn, request)) return false;
  spawn->ends_on_output = (program.flags & SPAWN_ENDS_ON_OUTPUT) != 0;
  watch(program.watched);
  count_tasks_ourselves(&program.rlimits, 0);
  struct pipes pipes;
  if (!open_pipes(&pipes)) fail("make the guest's pipes");
  if (program.flags & SPAWN_FORKS) {
    start_fork(&program, &pipes, whole);
  } else {
    spawn->pid = fork();
    check(spawn->pid, "fork the guest");
    if (spawn->pid == 0) run_child(&program, &pipes);
  }
  for (int i = 0; i < 2; i++) {
    close(pipes.output[i][1]);
    spawn->output_fds[i] = keep(pipes.output[i][0]);
    spawn->drain_left[i] = -1;
  }
  close(pipes.input[0]);
  close(pipes.exec[1]);
  spawn->stdin_fd = keep(pipes.input[1]);
  spawn->exec_fd = keep(pipes.exec[0]);
  if (!(program.flags & SPAWN_HAS_STDIN)) {
    close(spawn->stdin_fd);
    spawn->stdin_fd = -1;
  }
  /* The channel is its guest's alone; while pid 1 held it the host would not see its end. */
  if (program.flags & SPAWN_HAS_CHANNEL) close(CHANNEL_FD);
  return true;
}
