/*
 * The host's requests to pid 1, one frame each. A malformed frame ends the cell: the host never sends one.
 */
#include "serve/requests.h"
#include "cell.h"
#include "frames.h"
#include "outbox.h"
#include "spawns.h"
#include "files/put.h"
#include "serve/begin.h"
#include "serve/ends.h"
#include "serve/guests.h"
#include "serve/streams/inlets.h"
#include "serve/splits.h"
#include "serve/spawn.h"
#include "serve/streams/terminal.h"
#include "watch/kill.h"
#include "watch/tree.h"
#include "watch/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

struct owed owed;

_Noreturn void end_malformed(void) {
  errno = EPROTO;
  fail("parse a frame");
}

static void handle_spawn(uint32_t id, struct reader *payload) {
  if (find_spawn(id)) end_malformed();
  struct spawn *spawn = add_spawn(id);
  if (!spawn) {
    outbox_fault(id, EAGAIN, "find room for another process");
  } else if (!start_spawn(spawn, payload)) {
    end_malformed();
  }
}

/* Whether it has ended. It is not reaped yet, so the pid is still its own. */
static bool is_dead(pid_t pid) {
  siginfo_t end = {0};
  return waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 && end.si_pid != 0;
}

static void handle_begin(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (!spawn || spawn->exited) return; /* it ended while this was on its way, and the host learns of that */
  if (spawn->pid == 0) end_malformed(); /* a fork that the host has not heard of yet */
  if (is_dead(spawn->pid)) return;
  if (!begin_spawn(spawn, payload)) end_malformed();
}

static void handle_finish(uint32_t id, struct reader *payload) {
  uint32_t exit_code = take_u32(payload);
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload) || exit_code > UINT8_MAX) end_malformed();
  if (spawn && spawn->pid == 0) end_malformed(); /* a fork that the host has not heard of yet */
  if (!spawn || spawn->exited) return;
  if (finish_spawn(spawn, (uint8_t)exit_code)) owed.kills_after_flush = true;
}

static void handle_stdin(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (spawn && !inlet_add(&spawn->input, id, payload)) end_malformed();
}

static void handle_channel(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (spawn && !inlet_add(&spawn->channel, id, payload)) end_malformed();
}

static void handle_channel_end(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn) spawn->channel.ended = true;
}

static void handle_channel_close(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn) close_channel(spawn);
}

static void handle_signal(uint32_t id, struct reader *payload) {
  uint32_t number = take_u32(payload);
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload) || number == 0 || number >= NSIG) end_malformed();
  if (!spawn || spawn->exited || spawn->pid == 0) return;
  signal_tree(spawn->pid, (int)number); /* not reaped yet, so it is still that process */
}

static void handle_kill_tree(uint32_t id, struct reader *payload) {
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn && !spawn->exited && spawn->pid > 0) kill_tree(spawn->pid, has_splits());
}

static void handle_hold(uint32_t id, struct reader *payload) {
  uint32_t held = take_u32(payload);
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload) || held > (HELD_OUTPUT | HELD_CHANNEL)) end_malformed();
  if (spawn) spawn->held = held;
}

static void handle_resize(uint32_t id, struct reader *payload) {
  uint32_t columns = take_u32(payload);
  uint32_t rows = take_u32(payload);
  struct spawn *spawn = find_spawn(id);
  if (!reader_done(payload)) end_malformed();
  if (spawn && spawn->output_fds[0] >= 0) (void)resize_terminal(spawn->output_fds[0], columns, rows); /* a pipe has no size */
}

void handle_frame(struct frame frame, struct reader payload) {
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
      spawn = find_spawn(frame.id);
      if (spawn) spawn->input.ended = true;
      return;
    case FRAME_CHANNEL:
      handle_channel(frame.id, &payload);
      return;
    case FRAME_CHANNEL_END:
      handle_channel_end(frame.id, &payload);
      return;
    case FRAME_CHANNEL_CLOSE:
      handle_channel_close(frame.id, &payload);
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
      owed.announces_alone = true;
      owed.kills_late_forks = awaits_fork();
      return;
    case FRAME_END:
      leave();
    default:
      end_malformed();
  }
}
