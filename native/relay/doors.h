/*
 * Doors. Each cell or space with a network policy has one: the sockets of its namespace at which guests find a resolver
 * and listeners, and the budget of its connections and bytes.
 */
#ifndef LAZARET_DOORS_H
#define LAZARET_DOORS_H
#include "relay.h"

#include <stddef.h>

/* What the doors of one sandbox share. */
struct budget {
  uint32_t id;
  uint32_t doors; /* 0: unused */
  uint32_t connections;
  uint32_t connections_max;
  uint64_t bytes_left;
};

struct admission {
  uint32_t id;
  const uint8_t *token;
  uint32_t budget;
  uint32_t connections_max;
  uint64_t bytes_left;
};

void admit_door(const struct admission *admission);
/* Takes the sockets of an admitted door: its resolver, then listeners. False: they are not taken. */
bool add_sockets(uint32_t id, const uint8_t *token, const int *fds, uint32_t count);
void drop_door(uint32_t id);

void accept_connection(uint32_t door, uint32_t listener);
void take_questions(uint32_t door);
void answer_question(uint32_t id, uint32_t question, const uint8_t *answer, uint32_t length);

/*
 * A door whose guests ask or connect too fast is throttled: how long to wait for the next release, and the release
 * itself.
 */
int throttled_wait_ms(void);
void release_throttled(void);

#endif
