/*
 * Connections of the host that do not belong to a launcher yet: who may connect, and their greetings.
 */
#ifndef LAZARET_CONNECTIONS_H
#define LAZARET_CONNECTIONS_H
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  SECRET_BYTES = 32,
  CONNECTIONS_MAX = 192, /* without a launcher yet; further ones wait in the backlog */
};

struct greeted {
  uint32_t id; /* of the launcher that the connection is for */
  bool has_channel;
};

/*
 * Who may connect: the process `host`, as the kernel identifies it, or, if there is a secret, whoever knows it. Forgets
 * earlier connections.
 */
void open_connections(int listening_fd, pid_t host, const uint8_t *secret);
/* For poll: the listening socket, then each connection; and how long to wait. Returns the number of connections. */
size_t poll_connections(struct pollfd polled[1 + CONNECTIONS_MAX], int *wait_ms);
void accept_connections(void);
/* Reads what has arrived on one of them. True when its greeting is complete. */
bool read_connection(int fd, struct greeted *greeted);
int find_connection(uint32_t id, uint8_t role); /* its descriptor, or -1 */
void drop_connections_of(uint32_t id);

#endif
