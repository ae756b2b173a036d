/*
 * Doors: which guests may connect and ask the resolver, how often, and how many bytes they may move.
 */
#include "doors.h"
#include "connections.h"
#include "host.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Each question and each connection costs the host's event loop a turn. So each door has a token bucket: a burst, and a
 * fixed rate after that. The rest waits in the kernel's own queues, which the guest's network namespace bounds.
 */
enum { BURST = 256, PER_SECOND = 200, PAUSE_MS = 50 };

struct question {
  uint32_t number; /* 0: none */
  struct sockaddr_in from;
};

struct door {
  bool is_used;
  uint32_t id;
  uint8_t token[TOKEN_BYTES];
  struct budget *budget;
  int fds[1 + LISTENERS_MAX]; /* the resolver, then listeners */
  uint32_t fd_count;
  uint32_t over; /* connections that the limit did not admit */
  struct question questions[QUESTIONS_MAX];
  uint32_t allowance; /* turns of the host that it may take at once */
  int64_t filled_ms;
  bool is_throttled;
  int64_t throttled_until_ms;
};

static struct door doors[DOORS_MAX];
static struct budget budgets[DOORS_MAX];
static uint32_t last_question;
static uint32_t throttled;

static int64_t now_ms(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) < 0) give_up("read the clock");
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The host assigns the id, which gives the entry of this table (modulo its size) and is not reused soon. */
static struct door *find_door(uint32_t id) {
  struct door *door = &doors[id % DOORS_MAX];
  return door->is_used && door->id == id ? door : NULL;
}

static struct budget *open_budget(const struct admission *admission) {
  struct budget *budget = &budgets[admission->budget % DOORS_MAX];
  errno = EPROTO;
  bool is_known = budget->id == admission->budget;
  if (budget->doors > 0 && !is_known) give_up("open a budget");
  if (budget->doors++ > 0) return budget;
  /* The host may not know yet what was spent here last. */
  uint64_t bytes_left = admission->bytes_left;
  if (is_known && budget->bytes_left < bytes_left) bytes_left = budget->bytes_left;
  *budget = (struct budget){.id = admission->budget, .doors = 1, .connections_max = admission->connections_max};
  budget->bytes_left = bytes_left;
  return budget;
}

void admit_door(const struct admission *admission) {
  struct door *door = &doors[admission->id % DOORS_MAX];
  errno = EPROTO;
  if (door->is_used) give_up("admit a door");
  *door = (struct door){.is_used = true, .id = admission->id, .budget = open_budget(admission)};
  memcpy(door->token, admission->token, TOKEN_BYTES);
  door->allowance = BURST;
  door->filled_ms = now_ms();
}

static bool knows_token(const struct door *door, const uint8_t *token) {
  uint8_t difference = 0;
  for (int i = 0; i < TOKEN_BYTES; i++) difference |= (uint8_t)(door->token[i] ^ token[i]);
  return difference == 0;
}

static bool watch_door(const struct door *door, bool is_watched) {
  uint32_t index = (uint32_t)(door - doors);
  for (uint32_t i = 0; i < door->fd_count; i++) {
    uint64_t tag = i == 0 ? tag_of(KIND_RESOLVER, index, 0) : tag_of(KIND_LISTENER, index, i);
    if (!is_watched) unwatch_descriptor(door->fds[i]);
    else if (!watch_descriptor(door->fds[i], EPOLLIN, tag)) return false;
  }
  return true;
}

bool add_sockets(uint32_t id, const uint8_t *token, const int *fds, uint32_t count) {
  struct door *door = find_door(id);
  if (!door || !knows_token(door, token) || door->fd_count > 0 || count == 0) return false;
  memcpy(door->fds, fds, count * sizeof *fds);
  door->fd_count = count;
  if (watch_door(door, true)) return true;
  watch_door(door, false);
  door->fd_count = 0;
  return false;
}

void drop_door(uint32_t id) {
  struct door *door = find_door(id);
  if (!door) return;
  close_connections_of((uint32_t)(door - doors));
  watch_door(door, false);
  for (uint32_t i = 0; i < door->fd_count; i++) close(door->fds[i]);
  door->budget->doors--;
  if (door->is_throttled) throttled--;
  uint8_t payload[4];
  put_u32(payload, door->over);
  tell(RELAY_DROPPED, id, payload, sizeof payload);
  explicit_bzero(door, sizeof *door);
}

/* ---- turns ---- */

static void refill(struct door *door) {
  int64_t now = now_ms();
  int64_t more = (now - door->filled_ms) * PER_SECOND / 1000;
  if (more <= 0) return;
  door->filled_ms = now;
  door->allowance = more + door->allowance > BURST ? BURST : door->allowance + (uint32_t)more;
}

static void throttle(struct door *door) {
  if (door->is_throttled) return;
  door->is_throttled = true;
  door->throttled_until_ms = now_ms() + PAUSE_MS;
  throttled++;
  watch_door(door, false);
}

/* False: it has to wait, and so does everything else at this door. */
static bool take_turn(struct door *door) {
  refill(door);
  if (door->allowance > 0 && host_keeps_up()) {
    door->allowance--;
    return true;
  }
  throttle(door);
  return false;
}

int throttled_wait_ms(void) { return throttled > 0 ? PAUSE_MS : -1; }

void release_throttled(void) {
  for (uint32_t i = 0; throttled > 0 && i < DOORS_MAX; i++) {
    if (!doors[i].is_throttled || now_ms() < doors[i].throttled_until_ms) continue;
    refill(&doors[i]);
    if (doors[i].allowance == 0 || !host_keeps_up()) continue;
    doors[i].is_throttled = false;
    throttled--;
    if (!watch_door(&doors[i], true)) throttle(&doors[i]);
  }
}

/* ---- connections ---- */

void accept_connection(uint32_t index, uint32_t listener) {
  struct door *door = &doors[index];
  if (!door->is_used || door->is_throttled || listener >= door->fd_count || !take_turn(door)) return;
  int fd = accept4(door->fds[listener], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    door->allowance++;
    /* Out of descriptors or memory: pending connections stay readable, and the loop must not spin on them. */
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) throttle(door);
    return;
  }
  struct budget *budget = door->budget;
  if (budget->connections < budget->connections_max && add_connection(fd, index, door->id, budget)) return;
  door->over++;
  reset_and_close(fd);
}

/* ---- questions ---- */

static struct question *free_question(struct door *door) {
  struct question *oldest = &door->questions[0];
  for (int i = 0; i < QUESTIONS_MAX; i++) {
    if (door->questions[i].number == 0) return &door->questions[i];
    if (door->questions[i].number < oldest->number) oldest = &door->questions[i];
  }
  return oldest; /* its guest asks again, as after any lost datagram */
}

void take_questions(uint32_t index) {
  struct door *door = &doors[index];
  uint8_t payload[8 + DATAGRAM_BYTES_MAX];
  if (!door->is_used || door->is_throttled || door->fd_count == 0 || !take_turn(door)) return;
  struct sockaddr_in from;
  socklen_t from_length = sizeof from;
  ssize_t count = recvfrom(door->fds[0], payload + 8, DATAGRAM_BYTES_MAX, MSG_DONTWAIT | MSG_TRUNC,
                           (struct sockaddr *)&from, &from_length);
  if (count <= 0 || count > DATAGRAM_BYTES_MAX || from.sin_family != AF_INET) return;
  if (++last_question == 0) last_question = 1;
  *free_question(door) = (struct question){.number = last_question, .from = from};
  put_u32(payload, last_question);
  put_u32(payload + 4, (uint32_t)count);
  tell(RELAY_QUESTION, door->id, payload, 8 + (size_t)count);
}

void answer_question(uint32_t id, uint32_t question, const uint8_t *answer, uint32_t length) {
  struct door *door = find_door(id);
  if (!door || door->fd_count == 0 || question == 0) return;
  for (int i = 0; i < QUESTIONS_MAX; i++) {
    struct question *one = &door->questions[i];
    if (one->number != question) continue;
    if (length > 0) {
      (void)sendto(door->fds[0], answer, length, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&one->from, sizeof one->from);
    }
    one->number = 0;
    return;
  }
}
