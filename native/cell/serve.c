/*
 * Job 2: pid 1. Reaps, starts what the host asks for, relays streams as frames, enforces the output budget at the
 * source, reports how things ended. One poll loop; nothing in it blocks on a guest. It ends when the host's
 * socket does, and the kernel ends everything in the cell with it.
 */
#include "cell.h"
#include "steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static struct spawn spawns[SPAWNS_MAX];
static uint8_t inbox[FRAME_HEADER_BYTES + FRAME_BYTES_MAX];
static size_t inbox_bytes;
static bool announces_alone;
static bool kills_after_flush;
static bool kills_late_forks;

static struct spawn *spawn_of(uint32_t id) {
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used && spawns[i].id == id) return &spawns[i];
  }
  return NULL;
}

static _Noreturn void end_malformed(void) {
  errno = EPROTO;
  fail("parse a frame");
}

/*
 * Our end is the end of everything in a pid namespace. Without one it is the stub that ends the guests when we are gone,
 * and it may be stopped: they are not left to it alone.
 */
static _Noreturn void leave(void) {
  if (cell.is_warded) kill_guests();
  _exit(0);
}

/* A fork of the zygote that has been asked for and is not ours yet. */
static bool awaits_fork(void) {
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used && spawns[i].pid == 0) return true;
  }
  return false;
}

/* ---- frames from the host ---- */

static void handle_spawn(uint32_t id, struct reader *payload) {
  if (spawn_of(id)) end_malformed();
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used) continue;
    spawns[i] = (struct spawn){.used = true, .id = id};
    if (!start_spawn(&spawns[i], payload)) end_malformed();
    return;
  }
  outbox_fault(id, EAGAIN, "find room for another process");
}

/* Not reaped yet, so it is still that process. */
static bool is_dead(pid_t pid) {
  siginfo_t end = {0};
  return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && end.si_pid != 0;
}

static void handle_begin(uint32_t id, struct reader *payload) {
  struct spawn *spawn = spawn_of(id);
  if (!spawn || spawn->exited) return; /* it ended while this was on its way, and the host hears of that */
  if (spawn->pid == 0) end_malformed(); /* a fork that the host has not heard of yet */
  if (is_dead(spawn->pid)) return;
  if (!begin_spawn(spawn, payload)) end_malformed();
}

static void handle_finish(uint32_t id, struct reader *payload) {
  uint32_t exit_code = take_u32(payload);
  struct spawn *spawn = spawn_of(id);
  if (!reader_done(payload) || exit_code > UINT8_MAX) end_malformed();
  if (spawn && spawn->pid == 0) end_malformed(); /* a fork that the host has not heard of yet */
  if (!spawn || spawn->exited) return;
  finish_spawn(spawn, (uint8_t)exit_code);
  kills_after_flush = true;
}

static void handle_stdin(uint32_t id, struct reader *payload) {
  struct spawn *spawn = spawn_of(id);
  if (!spawn) return; /* it ended while this was on its way */
  if (payload->left > STDIN_BYTES - spawn->stdin_count) end_malformed(); /* more than the credit we gave */
  if (spawn->stdin_fd < 0) return;
  for (; payload->left > 0; payload->left--) {
    spawn->stdin_bytes[(spawn->stdin_from + spawn->stdin_count++) % STDIN_BYTES] = *payload->at++;
  }
}

static void handle_signal(uint32_t id, struct reader *payload) {
  uint32_t number = take_u32(payload);
  struct spawn *spawn = spawn_of(id);
  if (!reader_done(payload) || number == 0 || number >= NSIG) end_malformed();
  if (!spawn || spawn->exited || spawn->pid == 0) return;
  (void)kill(spawn->pid, (int)number); /* not reaped yet, so it is still that process */
}

static void handle_kill_tree(uint32_t id, struct reader *payload) {
  struct spawn *spawn = spawn_of(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn && !spawn->exited && spawn->pid > 0) kill_tree(spawn->pid);
}

static void handle_hold(uint32_t id, struct reader *payload) {
  uint32_t held = take_u32(payload);
  struct spawn *spawn = spawn_of(id);
  if (!reader_done(payload) || held > 1) end_malformed();
  if (spawn) spawn->held = held == 1;
}

static void handle_resize(uint32_t id, struct reader *payload) {
  uint32_t columns = take_u32(payload);
  uint32_t rows = take_u32(payload);
  struct spawn *spawn = spawn_of(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn && spawn->output_fds[0] >= 0) (void)resize_terminal(spawn->output_fds[0], columns, rows); /* a pipe has no size */
}

static void handle_frame(struct frame frame, struct reader payload) {
  struct spawn *spawn = NULL;
  switch (frame.type) {
    case FRAME_SPAWN:
      handle_spawn(frame.id, &payload);
      return;
    case FRAME_BEGIN:
      handle_begin(frame.id, &payload);
      return;
    case FRAME_FINISH:
      handle_finish(frame.id, &payload);
      return;
    case FRAME_STDIN:
      handle_stdin(frame.id, &payload);
      return;
    case FRAME_STDIN_END:
      spawn = spawn_of(frame.id);
      if (spawn) spawn->stdin_ended = true;
      return;
    case FRAME_SIGNAL:
      handle_signal(frame.id, &payload);
      return;
    case FRAME_KILL_TREE:
      handle_kill_tree(frame.id, &payload);
      return;
    case FRAME_HOLD:
      handle_hold(frame.id, &payload);
      return;
    case FRAME_RESIZE:
      handle_resize(frame.id, &payload);
      return;
    case FRAME_PUT:
      if (!put_file(&payload)) end_malformed();
      return;
    case FRAME_KILL_ALL: /* and then drain, so that what was printed before is not lost */
      report_usage();
      kill_guests();
      announces_alone = true;
      kills_late_forks = awaits_fork();
      return;
    case FRAME_END:
      leave();
    default:
      end_malformed();
  }
}

static void read_control(void) {
  ssize_t count = read(CONTROL_FD, inbox + inbox_bytes, sizeof inbox - inbox_bytes);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) leave(); /* the host is gone */
  inbox_bytes += (size_t)count;
  size_t used = 0;
  while (inbox_bytes - used >= FRAME_HEADER_BYTES) {
    struct frame frame = frame_header(inbox + used);
    if (frame.length > FRAME_BYTES_MAX) end_malformed();
    size_t whole = FRAME_HEADER_BYTES + (size_t)frame.length;
    if (inbox_bytes - used < whole) break;
    handle_frame(frame, reader_of(inbox + used + FRAME_HEADER_BYTES, frame.length));
    used += whole;
  }
  memmove(inbox, inbox + used, inbox_bytes - used);
  inbox_bytes -= used;
}

/*
 * Every process of the cell has one of our children above it, or is one: whoever loses its parent becomes ours. So
 * when there is no child left to wait for, nothing is alive.
 */
static void announce_alone(void) {
  if (awaits_fork()) return;
  if (kills_late_forks) kill_guests();
  kills_late_forks = false;
  if (waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD) return;
  announces_alone = false;
  outbox_add((struct frame){.type = FRAME_ALONE}, NULL);
}

/* ---- the loop ---- */

enum { POLLS_OF_OURS = 3, POLLS_PER_SPAWN = STREAMS + 2, POLLS_MAX = POLLS_OF_OURS + SPAWNS_MAX * POLLS_PER_SPAWN };

/* Where a spawn's descriptors stand among the polled ones; only used ones do, or poll refuses more than RLIMIT_NOFILE. */
static struct pollfd *polled_of[SPAWNS_MAX];

static void wait_for_something(struct pollfd *polled, int signal_fd) {
  polled[0] = (struct pollfd){.fd = CONTROL_FD, .events = (short)(POLLIN | (outbox_is_empty() ? 0 : POLLOUT))};
  polled[1] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
  polled[2] = (struct pollfd){.fd = cell.sync_fd, .events = POLLIN};
  nfds_t count = POLLS_OF_OURS;
  bool room = outbox_has_room();
  for (int i = 0; i < SPAWNS_MAX; i++) {
    struct spawn *spawn = &spawns[i];
    struct pollfd *own = polled + count;
    polled_of[i] = spawn->used ? own : NULL;
    if (!spawn->used) continue;
    for (int stream = 0; stream < STREAMS; stream++) {
      int fd = room && !spawn->exited && !spawn->held ? spawn->output_fds[stream] : -1;
      own[stream] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    own[STREAMS] = (struct pollfd){.fd = spawn->exec_fd, .events = POLLIN};
    own[STREAMS + 1] = (struct pollfd){.fd = spawn->stdin_count > 0 ? spawn->stdin_fd : -1, .events = POLLOUT};
    count += POLLS_PER_SPAWN;
  }
  if (poll(polled, count, watchdog_wait_ms()) < 0 && errno != EINTR) fail("wait");
}

/* The stub is gone, so nobody else is left to end the guests and to tidy up. */
static _Noreturn void end_orphaned(void) {
  do kill_guests();
  while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR);
  remove_work();
  _exit(1);
}

static void serve_once(int signal_fd) {
  struct pollfd polled[POLLS_MAX];
  memset(polled, 0, sizeof polled);
  wait_for_something(polled, signal_fd);
  /*
   * The host's frames first, also those that arrived while poll returned: what a guest was allowed to begin by them, it
   * may have done by now, and it counts with the limits that they hold.
   */
  read_control();
  for (int i = 0; i < SPAWNS_MAX; i++) {
    const struct pollfd *own = polled_of[i];
    if (!own) continue;
    if (own[STREAMS].revents) read_exec_report(&spawns[i]);
    for (int stream = 0; stream < STREAMS; stream++) {
      if (spawns[i].used && own[stream].revents && outbox_has_room()) read_output(&spawns[i], stream);
    }
  }
  if (polled[1].revents) {
    struct signalfd_siginfo ignored[8];
    (void)!read(signal_fd, ignored, sizeof ignored);
    reap(spawns);
  }
  if (polled[2].revents) end_orphaned();
  watchdog_look();
  for (int i = 0; i < SPAWNS_MAX; i++) {
    if (spawns[i].used) advance(&spawns[i]);
  }
  if (announces_alone) announce_alone();
  if (!outbox_flush()) leave();
  if (kills_after_flush) kill_guests();
  kills_after_flush = false;
}

/* Files are touched with the guest's ids from here on. Changing the fsuid clears both settings, so they follow. */
static void take_guest_file_ids(void) {
  if (!cell.guest_changes_ids) return;
  setfsgid(cell.guest_gid);
  setfsuid(cell.guest_uid);
  errno = EPERM;
  if (setfsuid((uid_t)-1) != (int)cell.guest_uid || setfsgid((gid_t)-1) != (int)cell.guest_gid) fail("take the guest's file ids");
}

void step_serve(struct reader *record) {
  require_whole(record);
  errno = EPROTO;
  /* Guests are killed all at once: as pid 1 of a namespace, or as a warden that proves whom a signal reaches. */
  if (!cell.is_warded && getpid() != 1) fail("be pid 1 or a warden");
  take_guest_file_ids();
  /* A warden outlives its stub for as long as it takes to end the guests, see `end_orphaned`; stopped, it could not. */
  check(prctl(PR_SET_PDEATHSIG, cell.is_warded ? SIGCONT : SIGKILL, 0, 0, 0), "die with the stub");
  check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "become undumpable");
  check(prctl(PR_SET_NAME, "cell", 0, 0, 0), "take a name");
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  check(sigprocmask(SIG_BLOCK, &child, NULL), "block SIGCHLD");
  int signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  check(signal_fd, "open the signal descriptor");
  check(fcntl(CONTROL_FD, F_SETFL, O_NONBLOCK), "make the control socket non-blocking");
  /* What the host has sent ahead starts first: while it comes up there is time to look at this cell. */
  read_control();
  char facts[4096];
  size_t length = collect_facts(facts, sizeof facts);
  outbox_add((struct frame){.length = (uint32_t)length, .type = FRAME_READY}, facts);
  if (!outbox_flush()) leave();
  for (;;) serve_once(signal_fd);
}
