/*
 * Starting a guest: the last steps before foreign code runs, in an order in which each step is still possible
 * and nothing is left open behind it. seccomp comes last, then execve.
 */
#include "cell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SPAWN_HAS_STDIN = 1, SPAWN_HAS_CHANNEL = 2, SPAWN_ENDS_ON_OUTPUT = 4, SPAWN_COLLECTS = 8, SPAWN_FLAGS = 15 };

/* First descriptor above the ones a guest may have; everything from here on is closed. */
enum { GUEST_CHANNEL_FD = 3, EXEC_FD = 4 };

struct program {
  uint32_t flags;
  const char *folder;
  const char *file;
  struct guest_rlimits rlimits;
  char *arguments[ARGUMENTS_MAX]; /* argv, NULL, environment, NULL */
  char **environment;
};

struct pipes {
  int output[2][2];
  int input[2];
  int exec[2];
};

/* The strings stay in the request's buffer: the guest is a fork and has its own copy of it. */
static char **take_strings(char **into, char **end, struct reader *request) {
  uint32_t count = take_u32(request);
  if (request->bad || count >= (size_t)(end - into)) return NULL;
  for (uint32_t i = 0; i < count; i++) *into++ = (char *)(uintptr_t)take_string(request);
  *into++ = NULL;
  return into;
}

static bool take_program(struct program *program, struct spawn *spawn, struct reader *request) {
  program->flags = take_u32(request);
  struct watched limits = take_watched(spawn, request);
  program->folder = take_string(request);
  program->file = take_string(request);
  if (request->bad || program->flags > SPAWN_FLAGS || !take_rlimits(&program->rlimits, request)) return false;
  char **end = program->arguments + ARGUMENTS_MAX;
  program->environment = take_strings(program->arguments, end, request);
  if (!program->environment || !take_strings(program->environment, end, request) || !reader_done(request)) return false;
  spawn->ends_on_output = (program->flags & SPAWN_ENDS_ON_OUTPUT) != 0;
  watch(limits);
  return true;
}

/* Where the child says which step failed; it closes by itself when execve works. */
static int exec_report_fd;

static const char *arrange_descriptors(const struct pipes *pipes, uint32_t flags) {
  /* Copies above every number that is about to be used, so that no dup2 closes a source. */
  int input = (flags & SPAWN_HAS_STDIN) ? pipes->input[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
  int copies[5] = {
      fcntl(input, F_DUPFD_CLOEXEC, 16),
      fcntl(pipes->output[0][1], F_DUPFD_CLOEXEC, 16),
      fcntl(pipes->output[1][1], F_DUPFD_CLOEXEC, 16),
      (flags & SPAWN_HAS_CHANNEL) ? fcntl(CHANNEL_FD, F_DUPFD_CLOEXEC, 16) : -2,
      fcntl(pipes->exec[1], F_DUPFD_CLOEXEC, 16),
  };
  for (int i = 0; i < 5; i++) {
    if (copies[i] == -1) return "copy a descriptor";
  }
  for (int fd = 0; fd < GUEST_CHANNEL_FD; fd++) {
    if (dup2(copies[fd], fd) < 0) return "place a descriptor";
  }
  if (copies[GUEST_CHANNEL_FD] >= 0) {
    if (dup2(copies[GUEST_CHANNEL_FD], GUEST_CHANNEL_FD) < 0) return "place the channel";
  } else {
    close(GUEST_CHANNEL_FD);
  }
  if (dup3(copies[EXEC_FD], EXEC_FD, O_CLOEXEC) < 0) return "place the exec pipe";
  exec_report_fd = EXEC_FD;
  return syscall(SYS_close_range, EXEC_FD + 1, ~0U, 0) == 0 ? NULL : "close the other descriptors";
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
  const char *failed = arrange_descriptors(pipes, program->flags);
  if (!failed) failed = reset_signals();
  if (failed) return failed;
  if (!set_rlimits(&program->rlimits, 0)) return "set an rlimit";
  if (cell.guest_root && chroot(cell.guest_root) < 0) return "enter the guests' root";
  if (chdir("/") < 0) return "enter /";
  if (!drop_to_guest_ids()) return "drop to the guest's ids";
  if (!drop_capabilities()) return "drop the capabilities";
  if (chdir(program->folder) < 0) return "enter the working folder";
  if (!restrict_with_landlock()) return "apply Landlock";
  if (!restrict_with_seccomp()) return "apply seccomp";
  if (program->flags & SPAWN_COLLECTS) {
    close(exec_report_fd);
    _exit(collect_files(program->file, program->arguments));
  }
  execve(program->file, program->arguments, program->environment);
  return "execute the program";
}

static _Noreturn void run_child(const struct program *program, const struct pipes *pipes) {
  exec_report_fd = pipes->exec[1];
  const char *failed = become_guest(program, pipes);
  int error = errno;
  uint8_t report[128];
  size_t length = strlen(failed);
  if (length > sizeof report - 4) length = sizeof report - 4;
  put_u32(report, (uint32_t)error);
  memcpy(report + 4, failed, length);
  (void)write_exactly(exec_report_fd, report, 4 + length);
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

bool start_spawn(struct spawn *spawn, struct reader *request) {
  static struct program program;
  program = (struct program){0};
  /* Before its deadline is set: a guest that reaches it has run for no less, and so it was the deadline that ended it. */
  spawn->started_us = now_us();
  if (!take_program(&program, spawn, request)) return false;
  count_tasks_ourselves(&program.rlimits, 0);
  struct pipes pipes;
  if (!open_pipes(&pipes)) fail("make the guest's pipes");
  spawn->pid = fork();
  check(spawn->pid, "fork the guest");
  if (spawn->pid == 0) run_child(&program, &pipes);
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
