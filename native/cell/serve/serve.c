/*
 * Pid 1 of a cell: reaps, starts what the host asks for, relays streams as frames, enforces the output budget at the
 * source, and reports how processes ended. One poll loop; nothing in it blocks on a guest. It ends when the host's
 * socket closes, and the kernel then ends everything in the cell.
 */
#include "serve/serve.h"
#include "cell.h"
#include "clock.h"
#include "facts.h"
#include "frames.h"
#include "outbox.h"
#include "record.h"
#include "spawns.h"
#include "serve/streams/drains.h"
#include "serve/ends.h"
#include "serve/guests.h"
#include "serve/requests.h"
#include "serve/splits.h"
#include "watch/kill.h"
#include "watch/watchdog.h"
#include "watch/files/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t inbox[FRAME_HEADER_BYTES + FRAME_BYTES_MAX];
static size_t inbox_bytes;

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
  explicit_bzero(inbox + inbox_bytes, used); /* it held credentials of a command, which the next fork must not inherit */
}

/*
 * Every process of the cell is our child or below one, because processes that lose their parent become our
 * children. So when there is no child left to wait for, nothing is alive.
 */
static void announce_alone(void) {
  if (awaits_fork()) return;
  if (owed.kills_late_forks) kill_guests();
  owed.kills_late_forks = false;
  if (waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 || errno != ECHILD) return;
  owed.announces_alone = false;
  outbox_add((struct frame){.type = FRAME_ALONE}, NULL);
}

/* ---- the loop ---- */

/* The descriptors of a spawn to poll: each of its streams, its exec pipe, and room for bytes from the host. */
enum { EXEC_SOURCE = STREAMS, INPUT_SOURCE, CHANNEL_SOURCE, SOURCES };
enum { POLLS_OF_OURS = 4, POLLS_MAX = POLLS_OF_OURS + SPAWNS_MAX * SOURCES };

/* Only descriptors in use are among them: poll refuses more than RLIMIT_NOFILE. */
static struct pollfd polled[POLLS_MAX];
static nfds_t polled_count;
static nfds_t place_of[SPAWNS_MAX][SOURCES]; /* among them, or 0 */

static nfds_t add_poll(int fd, short events) {
  if (fd < 0) return 0;
  polled[polled_count] = (struct pollfd){.fd = fd, .events = events};
  return polled_count++;
}

/*
 * Bash writes its state line by line, and then ends. Each line would wake this process and the host. So the state is read
 * when the process has ended, or after this time, because a pipe holds only a part of a long state.
 */
enum { STATE_WAIT_US = 1000 };

static bool state_waits(const struct spawn *spawn) {
  return spawn->used && spawn->state_since_us != 0 && now_us() < spawn->state_since_us + STATE_WAIT_US;
}

/* Whether to read what has arrived. */
static bool is_ripe(struct spawn *spawn, int stream) {
  if (stream != STATE_STREAM) return true;
  bool is_new = spawn->state_since_us == 0;
  spawn->state_since_us = is_new ? now_us() : 0;
  return !is_new;
}

static int states_wait_ms(void) {
  for (int i = 0; i < spawn_places; i++) {
    if (!spawns[i].exited && state_waits(&spawns[i])) return STATE_WAIT_US / 1000;
  }
  return -1;
}

static void poll_spawn(const struct spawn *spawn, nfds_t places[SOURCES]) {
  memset(places, 0, SOURCES * sizeof places[0]);
  if (!spawn->used) return;
  bool is_read = !spawn->exited && outbox_has_room();
  for (int stream = 0; stream < STREAMS; stream++) {
    bool is_held = (spawn->held & (stream == CHANNEL_STREAM ? HELD_CHANNEL : HELD_OUTPUT)) != 0;
    bool waits = stream == STATE_STREAM && state_waits(spawn);
    places[stream] = add_poll(is_read && !is_held && !waits ? spawn->output_fds[stream] : -1, POLLIN);
  }
  places[EXEC_SOURCE] = add_poll(spawn->exec_fd, POLLIN);
  places[INPUT_SOURCE] = add_poll(spawn->input.count > 0 ? spawn->input.fd : -1, POLLOUT);
  places[CHANNEL_SOURCE] = add_poll(spawn->channel.count > 0 ? spawn->channel.fd : -1, POLLOUT);
}

static bool is_due(int spawn, int source) {
  nfds_t place = place_of[spawn][source];
  return place > 0 && polled[place].revents != 0;
}

/* The shorter of two poll timeouts, where -1 is for ever. */
static int sooner(int one, int other) { return one < 0 || (other >= 0 && other < one) ? other : one; }

static void wait_for_something(int signal_fd) {
  polled[0] = (struct pollfd){.fd = CONTROL_FD, .events = (short)(POLLIN | (outbox_is_empty() ? 0 : POLLOUT))};
  polled[1] = (struct pollfd){.fd = signal_fd, .events = POLLIN};
  polled[2] = (struct pollfd){.fd = cell.sync_fd, .events = POLLIN};
  polled[3] = (struct pollfd){.fd = drains_fd(), .events = POLLIN};
  polled_count = POLLS_OF_OURS;
  for (int i = 0; i < spawn_places; i++) poll_spawn(&spawns[i], place_of[i]);
  int wait_ms = sooner(states_wait_ms(), sooner(watchdog_wait_ms(), drains_wait_ms()));
  if (poll(polled, polled_count, wait_ms) < 0 && errno != EINTR) fail("wait");
}

/* The stub is gone, so nobody else can end the guests and clean up. */
static _Noreturn void end_orphaned(void) {
  do kill_guests();
  while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR);
  remove_work();
  _exit(1);
}

static void serve_once(int signal_fd) {
  wait_for_something(signal_fd);
  /*
   * The host's frames first, also those that arrived while poll returned: a guest may already have done what they
   * allow, and it must be counted with the limits that they set.
   */
  read_control();
  for (int i = 0; i < spawn_places; i++) {
    if (!spawns[i].used) continue;
    if (is_due(i, EXEC_SOURCE)) read_exec_report(&spawns[i]);
    /* The host may have closed a channel by now. */
    bool has_message = spawns[i].used && spawns[i].output_fds[CHANNEL_STREAM] >= 0 && is_due(i, CHANNEL_STREAM);
    if (has_message) note_channel(&spawns[i]);
    for (int stream = 0; stream < STREAMS; stream++) {
      bool is_open = spawns[i].used && spawns[i].output_fds[stream] >= 0;
      bool is_ahead = has_message && stream < STATE_STREAM && (spawns[i].held & HELD_OUTPUT) == 0;
      bool is_next = is_open && (is_due(i, stream) || is_ahead) && outbox_has_room();
      if (is_next && is_ripe(&spawns[i], stream)) read_output(&spawns[i], stream);
    }
    if (has_message) forget_channel_note(&spawns[i]);
  }
  if (polled[1].revents) {
    struct signalfd_siginfo ignored[8];
    (void)!read(signal_fd, ignored, sizeof ignored);
    reap();
  }
  sweep_after_splits();
  if (polled[2].revents) end_orphaned();
  if (polled[3].revents) drain_some();
  watchdog_look();
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used) advance(&spawns[i]);
  }
  if (owed.announces_alone) announce_alone();
  if (!outbox_flush()) leave();
  if (owed.kills_after_flush) kill_guests();
  owed.kills_after_flush = false;
}

/*
 * From here on this process accesses files with the guest's ids. Changing the fsuid resets PDEATHSIG and the dumpable
 * flag, so both are set afterwards.
 */
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
  /*
   * Only pid 1 of a namespace, or a warden that has proved which processes its signals reach, can kill all guests at
   * once.
   */
  if (!cell.is_warded && getpid() != 1) fail("be pid 1 or a warden");
  take_guest_file_ids();
  /* A warden outlives its stub until it has ended the guests, see `end_orphaned`. SIGCONT, in case it is stopped. */
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
  /* Requests that the host sent ahead start first: while the guest starts there is time to inspect this cell. */
  read_control();
  char facts[4096];
  size_t length = collect_facts(facts, sizeof facts);
  outbox_add((struct frame){.length = (uint32_t)length, .type = FRAME_READY}, facts);
  if (!outbox_flush()) leave();
  for (;;) serve_once(signal_fd);
}
