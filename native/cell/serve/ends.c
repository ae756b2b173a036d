/*
 * The ends of guests: by themselves, or because the host says that they have finished; and what is reported about them.
 */
#include "serve/ends.h"
#include "clock.h"
#include "frames.h"
#include "outbox.h"
#include "serve/guests.h"
#include "serve/streams/drains.h"
#include "serve/streams/inlets.h"
#include "serve/splits.h"
#include "watch/look.h"
#include "watch/memory/memory.h"
#include "watch/memory/pages.h"
#include "watch/processor.h"
#include "watch/survey.h"
#include "watch/watchdog.h"

#include <sys/ioctl.h>
#include <sys/wait.h>

/* What the process has written still has to be read; what its descendants write from now on does not. */
static void end_streams(struct spawn *spawn) {
  for (int stream = 0; stream < STREAMS; stream++) {
    if (spawn->output_fds[stream] < 0 || ioctl(spawn->output_fds[stream], FIONREAD, &spawn->drain_left[stream]) < 0) {
      spawn->drain_left[stream] = 0;
    }
  }
  /*
   * A terminal reports only what has reached this end; reading brings the rest, and the kernel holds no more than this.
   */
  if (spawn->is_terminal && spawn->output_fds[0] >= 0) spawn->drain_left[0] = TERMINAL_BYTES;
}

/*
 * Reports the exit of a process with this code, because a real exit takes milliseconds. When the report is on its way
 * to the host, the process is killed, and so is everything that it has started; when it is reaped, its status no longer
 * matters. Returns false if the process may have lost its memory before that was measured: then only its own exit, which
 * follows at once, tells how much it was.
 */
bool finish_spawn(struct spawn *spawn, uint8_t exit_code) {
  uint64_t ended_us = now_us();
  report_usage();
  if (watchdog_counts() && has_no_memory(spawn->pid)) return false;
  spawn->exited = true;
  spawn->ended_us = ended_us;
  spawn->status = exit_code << 8;
  uint64_t used = processor_us_of(spawn->pid);
  spawn->usage = (struct rusage){.ru_utime = {.tv_sec = (time_t)(used / 1000000), .tv_usec = (suseconds_t)(used % 1000000)}};
  end_streams(spawn);
  return true;
}

/* A child that is dead but not reaped, so /proc still describes it. 0 if there is none. */
static pid_t next_dead(void) {
  siginfo_t end = {0};
  return waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0 ? 0 : end.si_pid;
}

static void note_end(struct spawn *spawn, int status, const struct rusage *usage) {
  spawn->exited = true;
  spawn->ended_us = now_us();
  spawn->status = status;
  spawn->usage = *usage;
  end_streams(spawn);
  note_split_end();
}

void reap(void) {
  /* A fork of the zygote whose pid has not been read yet. */
  for (int i = 0; i < spawn_places; i++) {
    if (spawns[i].used && spawns[i].exec_fd >= 0) read_exec_report(&spawns[i]);
  }
  for (pid_t pid; (pid = next_dead()) > 0;) {
    struct spawn *spawn = NULL;
    for (int i = 0; i < spawn_places; i++) {
      if (spawns[i].used && !spawns[i].exited && spawns[i].pid == pid) spawn = &spawns[i];
    }
    /* First check whether it was executed at all: once it is reaped, /proc no longer describes it. */
    if (spawn && spawn->exec_fd >= 0) read_exec_report(spawn);
    int status = 0;
    struct rusage usage;
    if (wait4(pid, &status, WNOHANG | __WALL, &usage) != pid) return;
    survey_reaped(pid, &usage);
    if (spawn && spawn->used) note_end(spawn, status, &usage);
  }
}

static void report_exit(struct spawn *spawn) {
  uint8_t payload[66];
  bool signalled = WIFSIGNALED(spawn->status);
  payload[0] = signalled;
  put_u32(payload + 1, (uint32_t)(signalled ? WTERMSIG(spawn->status) : WEXITSTATUS(spawn->status)));
  uint64_t user = time_us(spawn->usage.ru_utime);
  uint64_t system = time_us(spawn->usage.ru_stime);
  uint64_t before = spawn->used_before_us < user + system ? spawn->used_before_us : user + system;
  /* How the time before the run was divided is not known, and the host only uses the sum. */
  user = user + system - before;
  system = 0;
  /* Without a cgroup there is no other record of what its descendants used. */
  begin_look(LOOK_US);
  uint64_t whole_cell = watchdog_counts() ? processor_us() : 0;
  if (whole_cell > user + system) user = whole_cell - system;
  put_u64(payload + 5, user);
  put_u64(payload + 13, system);
  put_u64(payload + 21, (uint64_t)spawn->usage.ru_maxrss);
  put_u64(payload + 29, spawn->output_dropped[0]);
  put_u64(payload + 37, memory_peak_bytes());
  payload[45] = disk_is_full();
  put_u64(payload + 46, spawn->ended_us - spawn->started_us);
  put_u32(payload + 54, surveyors_refused());
  put_u64(payload + 58, spawn->output_dropped[1]);
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_EXIT, .id = spawn->id}, payload);
  for (int stream = 0; stream < STREAMS; stream++) {
    /* Processes that a command of a sandbox has started continue, and may print. */
    bool goes_on = !spawn->ends_on_output && !spawn->is_terminal && stream < STATE_STREAM && spawn->output_fds[stream] >= 0;
    if (goes_on) {
      drain_on(spawn->output_fds[stream]);
      spawn->output_fds[stream] = -1;
    } else {
      close_and_forget(&spawn->output_fds[stream]);
    }
  }
  close_inlets(spawn);
  spawn->used = false;
}

void advance(struct spawn *spawn) {
  inlet_advance(&spawn->input, spawn->id);
  inlet_advance(&spawn->channel, spawn->id);
  if (!spawn->exited || spawn->exec_fd >= 0) return;
  for (int stream = 0; stream < STREAMS; stream++) {
    while (spawn->drain_left[stream] > 0 && outbox_has_room()) read_output(spawn, stream);
  }
  for (int stream = 0; stream < STREAMS; stream++) {
    if (spawn->drain_left[stream] > 0) return;
  }
  report_exit(spawn);
}
