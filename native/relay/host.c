/*
 * The host's socket. Its bytes are checked like any others; a frame that is not understood ends the relay, and with it
 * the network of every cell.
 */
#include "host.h"
#include "connections.h"
#include "doors.h"
#include "clients.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  HOST_FD = 3,
  FRAME_BYTES_MAX_OF_HOST = 4096,
  INBOX_BYTES = 64 * 1024,
  OUTBOX_BYTES = 1024 * 1024, /* CONNECTIONS_MAX endings of 33 bytes fit three times */
  KEEPS_UP_BYTES = 64 * 1024,
};

static uint8_t inbox[INBOX_BYTES];
static size_t inbox_bytes;
static uint8_t outbox[OUTBOX_BYTES];
static size_t outbox_bytes;
static size_t outbox_sent;
static bool waits_for_room;

void open_host(void) {
  int flags = fcntl(HOST_FD, F_GETFL);
  if (flags < 0 || fcntl(HOST_FD, F_SETFL, flags | O_NONBLOCK) < 0) give_up("reach the host");
  if (fcntl(HOST_FD, F_SETFD, FD_CLOEXEC) < 0) give_up("reach the host");
  if (!watch_descriptor(HOST_FD, EPOLLIN, tag_of(KIND_HOST, 0, 0))) give_up("watch the host");
}

bool host_keeps_up(void) { return outbox_bytes - outbox_sent < KEEPS_UP_BYTES; }

void flush_host(void) {
  while (outbox_sent < outbox_bytes) {
    ssize_t count = send(HOST_FD, outbox + outbox_sent, outbox_bytes - outbox_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) _exit(0); /* the host is gone */
    outbox_sent += (size_t)count;
  }
  if (outbox_sent == outbox_bytes) outbox_sent = outbox_bytes = 0;
  bool waits = outbox_bytes > 0;
  if (waits == waits_for_room) return;
  waits_for_room = waits;
  if (!watch_descriptor(HOST_FD, waits ? EPOLLIN | EPOLLOUT : EPOLLIN, tag_of(KIND_HOST, 0, 0))) give_up("watch the host");
}

void tell(enum relay_frame type, uint32_t id, const uint8_t *payload, size_t length) {
  if (outbox_bytes + FRAME_HEADER_BYTES + length > OUTBOX_BYTES) {
    memmove(outbox, outbox + outbox_sent, outbox_bytes - outbox_sent);
    outbox_bytes -= outbox_sent;
    outbox_sent = 0;
  }
  errno = ENOBUFS;
  if (outbox_bytes + FRAME_HEADER_BYTES + length > OUTBOX_BYTES) give_up("wait for the host");
  write_frame_header(outbox + outbox_bytes, (struct frame){.length = (uint32_t)length, .type = (uint8_t)type, .id = id});
  if (length > 0) memcpy(outbox + outbox_bytes + FRAME_HEADER_BYTES, payload, length);
  outbox_bytes += FRAME_HEADER_BYTES + length;
}

static void open_relay(struct reader *payload) {
  uint32_t name_bytes = 0;
  uint32_t secret_bytes = 0;
  const uint8_t *name = take_bytes(payload, &name_bytes);
  const uint8_t *secret = take_bytes(payload, &secret_bytes);
  errno = EPROTO;
  if (payload->bad || name_bytes == 0 || name_bytes > NAME_BYTES_MAX || secret_bytes != SECRET_BYTES) give_up("open");
  listen_for_clients(name, name_bytes, secret);
  tell(RELAY_READY, 0, NULL, 0);
}

static void admit(uint32_t id, struct reader *payload) {
  uint32_t token_bytes = 0;
  const uint8_t *token = take_bytes(payload, &token_bytes);
  struct admission admission = {.id = id, .token = token, .budget = take_u32(payload)};
  admission.connections_max = take_u32(payload);
  admission.bytes_left = take_u64(payload);
  errno = EPROTO;
  if (payload->bad || token_bytes != TOKEN_BYTES) give_up("admit");
  admit_door(&admission);
}

static void connect_to(uint32_t id, struct reader *payload) {
  struct destination to = {.port = take_u32(payload)};
  to.address = take_bytes(payload, &to.address_bytes);
  to.preface = take_bytes(payload, &to.preface_bytes);
  errno = EPROTO;
  if (payload->bad || to.port == 0 || to.port > 65535) give_up("connect");
  if (to.address_bytes != 4 && to.address_bytes != 16) give_up("connect");
  if (to.preface_bytes > PREFACE_BYTES_MAX) give_up("connect");
  connect_connection(id, &to);
}

static void answer(uint32_t id, struct reader *payload) {
  uint32_t question = take_u32(payload);
  uint32_t length = 0;
  const uint8_t *bytes = take_bytes(payload, &length);
  errno = EPROTO;
  if (payload->bad || length > ANSWER_BYTES_MAX) give_up("answer");
  answer_question(id, question, bytes, length);
}

static void obey(struct frame frame, struct reader payload) {
  switch (frame.type) {
    case RELAY_OPEN: open_relay(&payload); break;
    case RELAY_ADMIT: admit(frame.id, &payload); break;
    case RELAY_DROP: drop_door(frame.id); break;
    case RELAY_CONNECT: connect_to(frame.id, &payload); break;
    case RELAY_REFUSE: refuse_connection(frame.id); break;
    case RELAY_ANSWER: answer(frame.id, &payload); break;
    default: payload.bad = true;
  }
  errno = EPROTO;
  if (!reader_done(&payload)) give_up("parse a frame");
}

void handle_host(uint32_t events) {
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR))) return;
  ssize_t count = recv(HOST_FD, inbox + inbox_bytes, sizeof inbox - inbox_bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) _exit(0); /* the host is gone, or wants us gone */
  inbox_bytes += (size_t)count;
  size_t used = 0;
  while (inbox_bytes - used >= FRAME_HEADER_BYTES) {
    struct frame frame = frame_header(inbox + used);
    errno = EPROTO;
    if (frame.length > FRAME_BYTES_MAX_OF_HOST) give_up("parse a frame");
    size_t whole = FRAME_HEADER_BYTES + (size_t)frame.length;
    if (inbox_bytes - used < whole) break;
    obey(frame, reader_of(inbox + used + FRAME_HEADER_BYTES, frame.length));
    used += whole;
  }
  memmove(inbox, inbox + used, inbox_bytes - used);
  inbox_bytes -= used;
}
