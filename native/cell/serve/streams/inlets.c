/*
 * Bytes from the host on their way to a guest. Unread bytes wait in a ring buffer of the size of the host's credit, so
 * neither side blocks the other.
 */
#include "serve/streams/inlets.h"
#include "outbox.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns credit in large pieces: a host that still has half of it need not be woken for each message. */
static void give_credit(struct inlet *inlet, uint32_t id, size_t taken) {
  inlet->untold += taken;
  if (inlet->untold < INLET_BYTES / 2) return;
  uint8_t payload[4];
  put_u32(payload, (uint32_t)inlet->untold);
  inlet->untold = 0;
  outbox_add((struct frame){.length = sizeof payload, .type = inlet->taken_type, .id = id}, payload);
}

/* A socket whose other descriptor is still in use needs a shutdown; a pipe ends when it is closed. */
void inlet_close(struct inlet *inlet) {
  if (inlet->fd < 0) return;
  (void)shutdown(inlet->fd, SHUT_WR);
  close(inlet->fd);
  inlet->fd = -1;
}

bool inlet_add(struct inlet *inlet, uint32_t id, struct reader *bytes) {
  if (bytes->left > INLET_BYTES - inlet->count - inlet->untold) return false;
  if (inlet->fd < 0) { /* nobody reads any more, so the writer need not wait */
    give_credit(inlet, id, bytes->left);
    return true;
  }
  while (bytes->left > 0) { /* at most twice: the second piece begins at the start of the ring */
    size_t at = (inlet->from + inlet->count) % INLET_BYTES;
    size_t piece = INLET_BYTES - at < bytes->left ? INLET_BYTES - at : bytes->left;
    memcpy(inlet->bytes + at, bytes->at, piece);
    bytes->at += piece;
    bytes->left -= piece;
    inlet->count += piece;
  }
  return true;
}

/* Writes waiting bytes to the guest, and returns the same amount of credit to the host. */
static void write_on(struct inlet *inlet, uint32_t id) {
  size_t taken = 0;
  while (inlet->count > 0) {
    size_t piece = INLET_BYTES - inlet->from;
    if (piece > inlet->count) piece = inlet->count;
    ssize_t written = write(inlet->fd, inlet->bytes + inlet->from, piece);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) break;
    if (written < 0) {
      taken += inlet->count;
      inlet->count = 0;
      inlet_close(inlet);
      break;
    }
    inlet->from = (inlet->from + (size_t)written) % INLET_BYTES;
    inlet->count -= (size_t)written;
    taken += (size_t)written;
  }
  if (taken > 0) give_credit(inlet, id, taken);
}

void inlet_advance(struct inlet *inlet, uint32_t id) {
  if (inlet->fd >= 0 && inlet->count > 0) write_on(inlet, id);
  if (inlet->fd >= 0 && inlet->count == 0 && inlet->ended) inlet_close(inlet);
}
