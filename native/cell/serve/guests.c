/*
 * The guests that pid 1 has started: their streams, their exits, and what is reported to the host about both.
 */
#include "serve/guests.h"
#include "clock.h"
#include "frames.h"
#include "outbox.h"
#include "spawns.h"
#include "serve/streams/drains.h"
#include "serve/streams/inlets.h"
#include "serve/splits.h"
#include "watch/kill.h"
#include "watch/look.h"
#include "watch/memory/memory.h"
#include "watch/memory/pages.h"
#include "watch/processor.h"
#include "watch/survey.h"
#include "watch/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_and_forget(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Reports the kernel's view of the guest when it starts to run foreign code; the receipt is checked against it. */
void announce(struct spawn *spawn) {
  char path[64];
  uint8_t payload[4096];
  put_u32(payload, (uint32_t)spawn->pid);
  snprintf(path, sizeof path, "/proc/%d/status", spawn->pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? 0 : read(fd, payload + 4, sizeof payload - 4);
  if (fd >= 0) close(fd);
  outbox_add((struct frame){.length = (uint32_t)(4 + (count < 0 ? 0 : count)), .type = FRAME_SPAWNED, .id = spawn->id}, payload);
  /*
   * When the whole machine runs out of memory, guests are killed first. This is only a preference; the guest may
   * already have ended.
   */
  snprintf(path, sizeof path, "/proc/%d/oom_score_adj", spawn->pid);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    (void)!write(fd, "1000", 4);
    close(fd);
  }
}

static void close_inlets(struct spawn *spawn) {
  inlet_close(&spawn->input);
  inlet_close(&spawn->channel);
}

/* A fork that failed leaves nothing to wait for. */
static void report_failure(struct spawn *spawn, int error, const char *step) {
  outbox_fault(spawn->id, error, step);
  close_and_forget(&spawn->exec_fd);
  if (spawn->pid > 0) return;
  for (int stream = 0; stream < STREAMS; stream++) close_and_forget(&spawn->output_fds[stream]);
  close_inlets(spawn);
  spawn->used = false;
}

/* A fork of the zygote first reports its pid: a zero instead of an errno, and the pid. */
static bool take_forked_pid(struct spawn *spawn, const uint8_t report[8]) {
  struct reader reader = reader_of(report, 8);
  if (take_u32(&reader) != 0) return false;
  pid_t pid = (pid_t)take_u32(&reader);
  /* The pid of a guest's own fork comes from the guest, so it is checked. */
  if (spawn->is_split && !may_be_split(pid)) return false;
  spawn->pid = pid;
  return spawn->pid > 0;
}

void read_exec_report(struct spawn *spawn) {
  uint8_t report[128];
  ssize_t count = read(spawn->exec_fd, report, sizeof report - 1);
  if (count >= 8 && spawn->pid == 0 && take_forked_pid(spawn, report)) {
    count -= 8;
    memmove(report, report + 8, (size_t)count);
    if (count == 0) count = read(spawn->exec_fd, report, sizeof report - 1);
  }
  if (count < 0) return;
  if (count >= 4) {
    report[count] = 0;
    struct reader reader = reader_of(report, 4);
    report_failure(spawn, (int)take_u32(&reader), (const char *)report + 4);
  } else if (spawn->pid == 0) {
    report_failure(spawn, ECHILD, spawn->is_split ? "fork the guest" : "fork the zygote");
  } else {
    announce(spawn);
    close_and_forget(&spawn->exec_fd);
  }
}

static void exceed_output(struct spawn *spawn, int stream) {
  spawn->output_exceeded = true;
  if (!spawn->ends_on_output) return;
  uint8_t payload[12];
  put_u32(payload, stream == 0 ? EXCEEDED_STDOUT : EXCEEDED_STDERR);
  put_u64(payload + 4, 0);
  outbox_add((struct frame){.length = sizeof payload, .type = FRAME_EXCEEDED, .id = spawn->id}, payload);
  kill_guests();
}

/* State beyond its bound is read and discarded; the host sees that the end is missing. */
static ssize_t read_state(struct spawn *spawn, size_t most) {
  bool keep = spawn->state_left > 0;
  if (keep && most > spawn->state_left) most = (size_t)spawn->state_left;
  ssize_t count = outbox_add_output(spawn->id, STATE_STREAM + 1, spawn->output_fds[STATE_STREAM], most, keep);
  if (keep && count > 0) spawn->state_left -= (uint64_t)count;
  return count;
}

static ssize_t read_stream(struct spawn *spawn, int stream, size_t most, bool keep) {
  if (most == 0) return 0;
  if (stream == STATE_STREAM) return read_state(spawn, most);
  return outbox_add_output(spawn->id, (uint8_t)(stream + 1), spawn->output_fds[stream], most, keep);
}

/* A frame without bytes tells the host that the guest has closed its end. */
static void tell_channel_end(const struct spawn *spawn) {
  uint8_t stream = CHANNEL_STREAM + 1;
  outbox_add((struct frame){.length = 1, .type = FRAME_OUTPUT, .id = spawn->id}, &stream);
}

void read_output(struct spawn *spawn, int stream) {
  bool is_output = stream < STATE_STREAM;
  int *left = &spawn->drain_left[stream];
  /* One byte past the budget: an exact fit passes, and more is noticed without being stored. */
  bool cut = is_output && spawn->output_left < OUTPUT_CHUNK_BYTES;
  size_t most = cut ? (size_t)spawn->output_left : OUTPUT_CHUNK_BYTES;
  bool keep = most > 0;
  if (!keep) most = spawn->output_exceeded ? OUTPUT_CHUNK_BYTES : 1;
  if (*left >= 0 && most > (size_t)*left) most = (size_t)*left;
  ssize_t count = read_stream(spawn, stream, most, keep);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
    if (*left >= 0) *left = 0;
    return;
  }
  if (count <= 0) {
    close_and_forget(&spawn->output_fds[stream]);
    *left = 0;
    if (stream == CHANNEL_STREAM) tell_channel_end(spawn);
    return;
  }
  if (*left > 0) *left -= (int)count;
  if (!is_output) return;
  if (keep) {
    spawn->output_left -= (uint64_t)count;
    return;
  }
  spawn->output_dropped[stream] += (uint64_t)count;
  if (!spawn->output_exceeded) exceed_output(spawn, stream);
}

/*
 * Output that a guest printed before it wrote to its channel must arrive first. So this notes how much the channel has
 * now, reads each stream once, which takes everything that a pipe holds, and then reads only that much of the channel.
 */
void note_channel(struct spawn *spawn) {
  int *left = &spawn->drain_left[CHANNEL_STREAM];
  if (spawn->exited || ioctl(spawn->output_fds[CHANNEL_STREAM], FIONREAD, left) < 0 || *left == 0) *left = -1; /* its end */
}

void forget_channel_note(struct spawn *spawn) {
  if (spawn->used && !spawn->exited) spawn->drain_left[CHANNEL_STREAM] = -1;
}

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

/* From now on the guest's writes to the channel fail; bytes that were sent before still arrive. */
void close_channel(struct spawn *spawn) {
  int *fd = &spawn->output_fds[CHANNEL_STREAM];
  spawn->channel.ended = true;
  if (*fd < 0) return;
  (void)shutdown(*fd, SHUT_RD);
  close_and_forget(fd);
  if (spawn->exited) spawn->drain_left[CHANNEL_STREAM] = 0;
}

/* Whether its memory is gone: it is exiting by itself. */
static bool is_exiting(pid_t pid) {
  char text[24];
  snprintf(text, sizeof text, "%ld", (long)pid);
  return private_bytes(text) == 0;
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
  if (watchdog_counts() && is_exiting(spawn->pid)) return false;
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
