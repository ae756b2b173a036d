/*
 * The life of a connection: a guest connects, the host is asked for the address, the relay connects to it, bytes pass,
 * and the end is reported with the byte counts.
 */
#include "connections.h"
#include "flow.h"
#include "host.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum state { FREE, ASKING, CONNECTING, OPEN, CLOSED };
enum { DESCRIPTORS_EACH = 6, DESCRIPTORS_OF_OURS = 512 };

struct connection {
  enum state state;
  uint32_t id;
  uint32_t door;
  struct budget *budget;
  int inner;
  int outer;
  bool is_ready; /* it has more to move */
  uint8_t preface_bytes;
  uint8_t preface[PREFACE_BYTES_MAX];
  struct flow sent;     /* from the guest */
  struct flow received; /* to the guest */
};

static struct connection connections[CONNECTIONS_MAX];
static uint32_t used;      /* places of the table: those from here on were never in use */
static uint32_t open_count;
static uint32_t last_round; /* of ids */
static uint32_t ready;
static bool has_closed;

/* A connection needs two sockets and at most two pipes. */
static uint32_t most_connections(void) {
  static uint32_t most;
  struct rlimit files;
  if (most > 0) return most;
  if (getrlimit(RLIMIT_NOFILE, &files) < 0) give_up("read the limit on descriptors");
  uint64_t each = files.rlim_cur > 2 * DESCRIPTORS_OF_OURS ? (files.rlim_cur - DESCRIPTORS_OF_OURS) / DESCRIPTORS_EACH : 64;
  most = each < CONNECTIONS_MAX ? (uint32_t)each : CONNECTIONS_MAX;
  return most;
}

static struct connection *find(uint32_t id) {
  struct connection *one = &connections[id % CONNECTIONS_MAX];
  return one->state != FREE && one->id == id ? one : NULL;
}

void reset_and_close(int fd) {
  struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(fd);
}

static void set_ready(struct connection *one, bool is_ready) {
  if (one->is_ready == is_ready) return;
  one->is_ready = is_ready;
  if (is_ready) ready++;
  else ready--;
}

static void close_connection(struct connection *one, int error, enum why why) {
  if (one->state == FREE || one->state == CLOSED) return;
  set_ready(one, false);
  /* A connection that was cut off is reset on both sides, so that no peer takes it for complete. */
  if (why == WHY_ENDED) {
    close(one->inner);
    close(one->outer);
  } else {
    reset_and_close(one->inner);
    if (one->outer >= 0) reset_and_close(one->outer);
  }
  end_flow(&one->sent);
  end_flow(&one->received);
  one->budget->connections--;
  open_count--;
  one->state = CLOSED;
  has_closed = true;
  uint8_t payload[24];
  put_u32(payload, (uint32_t)error);
  put_u32(payload + 4, why);
  put_u64(payload + 8, one->sent.bytes);
  put_u64(payload + 16, one->received.bytes);
  tell(RELAY_CLOSED, one->id, payload, sizeof payload);
}

void forget_closed(void) {
  if (!has_closed) return;
  has_closed = false;
  for (uint32_t i = 0; i < used; i++) {
    if (connections[i].state == CLOSED) connections[i] = (struct connection){0};
  }
}

/* ---- from the guest ---- */

static size_t write_arrival(uint8_t *payload, uint32_t door, const struct sockaddr_storage *name) {
  put_u32(payload, door);
  if (name->ss_family == AF_INET) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)name;
    put_u32(payload + 4, ntohs(four->sin_port));
    put_u32(payload + 8, 4);
    memcpy(payload + 12, &four->sin_addr, 4);
    return 16;
  }
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)name;
  put_u32(payload + 4, ntohs(six->sin6_port));
  put_u32(payload + 8, 16);
  memcpy(payload + 12, &six->sin6_addr, 16);
  return 28;
}

static struct connection *take_place(void) {
  if (open_count >= most_connections()) return NULL;
  uint32_t index = 0;
  while (index < used && connections[index].state != FREE) index++;
  if (index == CONNECTIONS_MAX) return NULL;
  if (index == used) used++;
  connections[index].id = index + CONNECTIONS_MAX * last_round++;
  return &connections[index];
}

bool add_connection(int inner, uint32_t door, uint32_t door_id, struct budget *budget) {
  struct sockaddr_storage name;
  socklen_t length = sizeof name;
  if (getsockname(inner, (struct sockaddr *)&name, &length) < 0) return false;
  if (name.ss_family != AF_INET && name.ss_family != AF_INET6) return false;
  struct connection *one = take_place();
  /* Edge-triggered: each side is watched once for its whole life. */
  uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (!one || !watch_descriptor(inner, events, tag_of(KIND_INNER, (uint32_t)(one - connections), 0))) return false;
  one->state = ASKING;
  one->door = door;
  one->budget = budget;
  one->inner = inner;
  one->outer = -1;
  budget->connections++;
  open_count++;
  int yes = 1;
  (void)setsockopt(inner, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  uint8_t payload[32];
  tell(RELAY_ARRIVED, one->id, payload, write_arrival(payload, door_id, &name));
  return true;
}

/* ---- to the address ---- */

static socklen_t write_address(struct sockaddr_storage *address, const struct destination *to) {
  memset(address, 0, sizeof *address);
  if (to->address_bytes == 4) {
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    four->sin_family = AF_INET;
    four->sin_port = htons((uint16_t)to->port);
    memcpy(&four->sin_addr, to->address, 4);
    return sizeof *four;
  }
  struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
  six->sin6_family = AF_INET6;
  six->sin6_port = htons((uint16_t)to->port);
  memcpy(&six->sin6_addr, to->address, 16);
  return sizeof *six;
}

/* The host may name another address. */
static void fail_to_connect(struct connection *one, int error) {
  if (one->outer >= 0) close(one->outer);
  one->outer = -1;
  one->state = ASKING;
  uint8_t payload[4];
  put_u32(payload, (uint32_t)error);
  tell(RELAY_FAILED, one->id, payload, sizeof payload);
}

void connect_connection(uint32_t id, const struct destination *to) {
  struct connection *one = find(id);
  if (!one || one->state != ASKING) return; /* the guest has gone meanwhile */
  struct sockaddr_storage address;
  socklen_t length = write_address(&address, to);
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
  if (fd < 0) {
    fail_to_connect(one, errno);
    return;
  }
  one->outer = fd;
  one->state = CONNECTING;
  one->preface_bytes = (uint8_t)to->preface_bytes;
  if (to->preface_bytes > 0) memcpy(one->preface, to->preface, to->preface_bytes);
  int yes = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(fd, (struct sockaddr *)&address, length) < 0 && errno != EINPROGRESS) {
    fail_to_connect(one, errno);
    return;
  }
  uint32_t events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  if (!watch_descriptor(fd, events, tag_of(KIND_OUTER, (uint32_t)(one - connections), 0))) fail_to_connect(one, errno);
}

void refuse_connection(uint32_t id) {
  struct connection *one = find(id);
  if (one) close_connection(one, ECONNREFUSED, WHY_FAILED);
}

/* A TCP self-connection: nobody listens there, and the kernel has chosen the same port for this end. */
static bool talks_to_itself(int fd) {
  struct sockaddr_storage own = {0};
  struct sockaddr_storage peer = {0};
  socklen_t own_length = sizeof own;
  socklen_t peer_length = sizeof peer;
  if (getsockname(fd, (struct sockaddr *)&own, &own_length) < 0) return true;
  if (getpeername(fd, (struct sockaddr *)&peer, &peer_length) < 0) return true;
  return own_length == peer_length && memcmp(&own, &peer, own_length) == 0;
}

/* The first bytes of a connection always find room in its buffer. */
static bool send_preface(const struct connection *one) {
  if (one->preface_bytes == 0) return true;
  ssize_t count = send(one->outer, one->preface, one->preface_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  return count == (ssize_t)one->preface_bytes;
}

static void finish_connecting(struct connection *one, uint32_t events) {
  int error = 0;
  socklen_t length = sizeof error;
  if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) return;
  if (getsockopt(one->outer, SOL_SOCKET, SO_ERROR, &error, &length) < 0) error = errno;
  if (error == 0 && (talks_to_itself(one->outer) || !send_preface(one))) error = ECONNREFUSED;
  if (error != 0) {
    fail_to_connect(one, error);
    return;
  }
  one->state = OPEN;
  tell(RELAY_CONNECTED, one->id, NULL, 0);
}

/* ---- between them ---- */

static void move(struct connection *one) {
  uint64_t *left = &one->budget->bytes_left;
  enum flow_state sent = move_bytes(&one->sent, one->inner, one->outer, left);
  int error = errno;
  enum flow_state received = FLOW_WAITS;
  if (sent != FLOW_FAILED) {
    received = move_bytes(&one->received, one->outer, one->inner, left);
    error = errno;
  }
  if (sent == FLOW_FAILED || received == FLOW_FAILED) {
    close_connection(one, error, WHY_FAILED);
  } else if (sent == FLOW_OVER_BYTES || received == FLOW_OVER_BYTES) {
    close_connection(one, 0, WHY_BYTES);
  } else if (one->sent.is_shut && one->received.is_shut) {
    close_connection(one, 0, WHY_ENDED);
  } else {
    set_ready(one, sent == FLOW_GOES_ON || received == FLOW_GOES_ON);
  }
}

void handle_side(uint32_t index, uint32_t events, bool is_inner) {
  struct connection *one = &connections[index];
  if (index >= CONNECTIONS_MAX || one->state == FREE || one->state == CLOSED) return;
  if (one->state != OPEN) {
    /* The guest is gone before the relay has connected. A guest that has only closed its sending side waits. */
    if (is_inner && (events & (EPOLLERR | EPOLLHUP))) close_connection(one, ECONNRESET, WHY_FAILED);
    else if (!is_inner && one->state == CONNECTING) finish_connecting(one, events);
  }
  if (one->state == OPEN) move(one);
}

bool has_ready_connections(void) { return ready > 0; }

void go_on_with_connections(void) {
  for (uint32_t i = 0; ready > 0 && i < used; i++) {
    if (connections[i].is_ready) move(&connections[i]);
  }
}

void close_connections_of(uint32_t door) {
  for (uint32_t i = 0; i < used; i++) {
    if (connections[i].state != FREE && connections[i].door == door) close_connection(&connections[i], 0, WHY_DROPPED);
  }
}
