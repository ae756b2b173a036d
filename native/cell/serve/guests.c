/*
 * The guests that pid 1 has started: that they run, their streams, and what is reported to the host about both.
 */
#include "serve/guests.h"
#include "frames.h"
#include "outbox.h"
#include "spawns.h"
#include "serve/streams/inlets.h"
#include "serve/splits.h"
#include "watch/kill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void close_and_forget(int *fd) {
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

void close_inlets(struct spawn *spawn) {
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

/* From now on the guest's writes to the channel fail; bytes that were sent before still arrive. */
void close_channel(struct spawn *spawn) {
  int *fd = &spawn->output_fds[CHANNEL_STREAM];
  spawn->channel.ended = true;
  if (*fd < 0) return;
  (void)shutdown(*fd, SHUT_RD);
  close_and_forget(fd);
  if (spawn->exited) spawn->drain_left[CHANNEL_STREAM] = 0;
}
