/*
 * Starting a guest: its pipes, and its way from a fork of pid 1, or of the zygote, to foreign code (guest.c).
 */
#include "serve/spawn.h"
#include "cell.h"
#include "clock.h"
#include "outbox.h"
#include "spawns.h"
#include "files/collect.h"
#include "files/service.h"
#include "serve/forks.h"
#include "serve/guest.h"
#include "serve/limits.h"
#include "serve/streams/terminal.h"
#include "serve/splits.h"
#include "watch/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Each pair is a read end and a write end, or -1. Of the channel's socket pair, the guest gets the second. */
struct pipes {
  int output[STREAMS][2];
  int input[2];
  int channel_input; /* pid 1's end of the channel once more: each direction is closed separately */
  int exec[2];
};

/* Where the child reports which step failed; a successful execve closes it. */
static int exec_report_fd;

/* Which stream its descriptor 3 is, if it is one. */
static int stream_of_3(uint32_t flags) { return (flags & SPAWN_HAS_OWN_CHANNEL) ? CHANNEL_STREAM : STATE_STREAM; }

static void list_guest_fds(int fds[GUEST_FDS], const struct pipes *pipes, uint32_t flags) {
  fds[0] = (flags & SPAWN_HAS_STDIN) ? pipes->input[0] : open("/dev/null", O_RDONLY | O_CLOEXEC);
  fds[1] = pipes->output[0][1];
  fds[2] = (flags & SPAWN_HAS_TERMINAL) ? pipes->output[0][1] : pipes->output[1][1];
  fds[GUEST_CHANNEL_FD] = (flags & SPAWN_HAS_CHANNEL) ? CHANNEL_FD : pipes->output[stream_of_3(flags)][1];
  fds[EXEC_FD] = pipes->exec[1];
}

static const char *reset_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  if (signal(SIGPIPE, SIG_DFL) == SIG_ERR || sigprocmask(SIG_SETMASK, &none, NULL) < 0) return "reset signals";
  return NULL;
}

/* Pid 1 of a sandbox's space stays outside, so that it can start another process whatever its guests use up. */
static const char *join_cgroups(void) {
  if (cell.guest_join_count == 0) return NULL;
  for (uint32_t i = 0; i < cell.guest_join_count; i++) {
    if (write(cell.guest_joins[i], "0", 1) != 1) return "join a cgroup";
  }
  return unshare(CLONE_NEWCGROUP) == 0 ? NULL : "make the cgroup the root of all that it sees";
}

/* Returns only when a step failed: its name, with errno set. */
static const char *become_guest(const struct program *program, const struct pipes *pipes) {
  if (setsid() < 0) return "start a session";
  const char *not_joined = join_cgroups();
  if (not_joined) return not_joined;
  if ((program->flags & SPAWN_ADOPTS) && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) return "adopt descendants";
  int fds[GUEST_FDS];
  list_guest_fds(fds, pipes, program->flags);
  const char *failed = arrange_descriptors(fds);
  if (!failed) exec_report_fd = EXEC_FD;
  if (!failed && (program->flags & SPAWN_HAS_TERMINAL) && ioctl(0, TIOCSCTTY, 0) < 0) failed = "take the terminal";
  if (!failed) failed = reset_signals();
  if (!failed) failed = confine_guest(program);
  if (failed) return failed;
  if (program->flags & (SPAWN_COLLECTS | SPAWN_FILES)) {
    close(exec_report_fd);
    bool collects = (program->flags & SPAWN_COLLECTS) != 0;
    _exit((collects ? collect_files : serve_files)(program->file, program->arguments));
  }
  execve(program->file, program->arguments, program->environment);
  return "execute the program";
}

static _Noreturn void run_child(const struct program *program, const struct pipes *pipes) {
  exec_report_fd = pipes->exec[1];
  report_failed_step(exec_report_fd, become_guest(program, pipes));
  _exit(127);
}

static bool open_channel(struct pipes *pipes) {
  int *pair = pipes->output[CHANNEL_STREAM];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) return false;
  pipes->channel_input = fcntl(pair[0], F_DUPFD_CLOEXEC, 0);
  return pipes->channel_input >= 0;
}

static bool open_pipes(struct pipes *pipes, const struct program *program) {
  uint32_t flags = program->flags;
  memset(pipes, 0xff, sizeof *pipes); /* -1 */
  if (pipe2(pipes->exec, O_CLOEXEC) < 0) return false;
  if ((flags & SPAWN_HAS_STATE) && pipe2(pipes->output[STATE_STREAM], O_CLOEXEC) < 0) return false;
  if ((flags & SPAWN_HAS_OWN_CHANNEL) && !open_channel(pipes)) return false;
  if (!(flags & SPAWN_HAS_TERMINAL)) {
    bool has_stdin = (flags & SPAWN_HAS_STDIN) != 0;
    return pipe2(pipes->output[0], O_CLOEXEC) == 0 && pipe2(pipes->output[1], O_CLOEXEC) == 0 &&
           (!has_stdin || pipe2(pipes->input, O_CLOEXEC) == 0);
  }
  /* One descriptor for both directions, which are closed separately. */
  pipes->output[0][0] = open_terminal(&pipes->output[0][1]);
  if (pipes->output[0][0] < 0) return false;
  (void)resize_terminal(pipes->output[0][0], program->columns, program->rows);
  pipes->input[1] = fcntl(pipes->output[0][0], F_DUPFD_CLOEXEC, 0);
  pipes->input[0] = fcntl(pipes->output[0][1], F_DUPFD_CLOEXEC, 0);
  return pipes->input[0] >= 0 && pipes->input[1] >= 0;
}

static void close_pair(const int pair[2]) {
  for (int i = 0; i < 2; i++) {
    if (pair[i] >= 0) close(pair[i]);
  }
}

/* If the machine or the cell has no room now, pid 1 tells the host, and the cell continues. */
static void give_up(struct spawn *spawn, const struct pipes *pipes, const char *step) {
  outbox_fault(spawn->id, errno, step);
  for (int i = 0; i < STREAMS; i++) close_pair(pipes->output[i]);
  close_pair(pipes->input);
  close_pair(pipes->exec);
  if (pipes->channel_input >= 0) close(pipes->channel_input);
  spawn->used = false;
}

static int keep(int fd) {
  if (fd >= 0) check(fcntl(fd, F_SETFL, O_NONBLOCK), "make a pipe non-blocking");
  return fd;
}

/* A fork of the zygote is requested here and arrives later; its pid is the first thing on the exec pipe. */
static void start_fork(const struct program *program, const struct pipes *pipes, struct reader request) {
  int fds[GUEST_FDS];
  list_guest_fds(fds, pipes, program->flags);
  if (!ask_for_fork(fds, request)) report_failed_step(pipes->exec[1], "ask the zygote");
  if (!(program->flags & SPAWN_HAS_STDIN)) close(fds[0]);
}

/* The same for a fork of a guest, which the guest makes itself. */
static void start_split(const struct program *program, const struct pipes *pipes) {
  int fds[GUEST_FDS];
  list_guest_fds(fds, pipes, program->flags);
  const char *failed = ask_for_split(program->origin, fds);
  if (failed) report_failed_step(pipes->exec[1], failed);
  if (!(program->flags & SPAWN_HAS_STDIN)) close(fds[0]);
}

bool start_spawn(struct spawn *spawn, struct reader *request) {
  static struct program program;
  program = (struct program){0};
  struct reader whole = *request;
  /* Before its deadline is set, so that a guest that reaches the deadline has run for at least that long. */
  spawn->started_us = now_us();
  if (!take_program(&program, spawn, request)) return false;
  spawn->state_left = STATE_BYTES;
  spawn->is_terminal = (program.flags & SPAWN_HAS_TERMINAL) != 0;
  spawn->ends_on_output = (program.flags & SPAWN_ENDS_ON_OUTPUT) != 0;
  watch(program.watched);
  add_others(&program.rlimits, 0);
  struct pipes pipes;
  if (!open_pipes(&pipes, &program)) {
    give_up(spawn, &pipes, "make the guest's pipes");
    return true;
  }
  if (program.flags & SPAWN_FORKS) {
    start_fork(&program, &pipes, whole);
  } else if (program.flags & SPAWN_SPLITS) {
    spawn->is_split = true;
    start_split(&program, &pipes);
  } else {
    pid_t pid = fork();
    if (pid < 0) {
      give_up(spawn, &pipes, "fork the guest");
      return true;
    }
    if (pid == 0) run_child(&program, &pipes);
    spawn->pid = pid;
  }
  for (int i = 0; i < STREAMS; i++) {
    if (pipes.output[i][1] >= 0) close(pipes.output[i][1]);
    spawn->output_fds[i] = keep(pipes.output[i][0]);
    spawn->drain_left[i] = -1;
  }
  if (pipes.input[0] >= 0) close(pipes.input[0]);
  close(pipes.exec[1]);
  spawn->input.fd = keep(pipes.input[1]);
  spawn->channel.fd = keep(pipes.channel_input);
  spawn->exec_fd = keep(pipes.exec[0]);
  /* The channel belongs only to its guest; if pid 1 kept it open, the host would not see its end. */
  if (program.flags & SPAWN_HAS_CHANNEL) close(CHANNEL_FD);
  return true;
}
