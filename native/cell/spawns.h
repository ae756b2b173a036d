/*
 * The processes that the host asked for: a table with one entry for each.
 */
#ifndef LAZARET_SPAWNS_H
#define LAZARET_SPAWNS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
  SPAWNS_MAX = 192,           /* processes the host may run at one time in one cell */
  TERMINAL_BYTES = 256 << 10, /* more than a terminal holds of unread input */
  STATE_BYTES = 1 << 20,      /* of a shell's state; longer state is truncated */
  INLET_BYTES = 64 << 10,     /* from the host, not yet read by the guest: the host's credit */
};

/* What a process writes. Its first two streams are its output, which has a budget. */
enum { STATE_STREAM = 2, CHANNEL_STREAM = 3, STREAMS = 4 };

/* Bytes of the host on their way to a guest, by its standard input or its channel. */
struct inlet {
  int fd;             /* -1 when closed */
  uint8_t taken_type; /* of the frame that gives credit back */
  uint8_t *bytes;     /* a ring */
  size_t from, count;
  size_t untold;      /* credit that is not yet reported to the host */
  bool ended;         /* no bytes follow the waiting ones */
};

/* One process that the host asked for. */
struct spawn {
  bool used;
  uint32_t id;
  pid_t pid;                    /* 0 while a fork of the zygote is on its way */
  int output_fds[STREAMS];      /* stdout or its terminal, stderr, state, channel; -1 when closed */
  int exec_fd;                  /* end of file here means that execve worked; -1 afterwards */
  uint64_t started_us;          /* on the monotonic clock */
  uint64_t used_before_us;      /* processor time before its run began, when it was started ahead of it */
  uint64_t ended_us;
  bool exited;
  int status;
  struct rusage usage;
  int drain_left[STREAMS];      /* bytes that were in the pipes when the process ended */
  bool ends_on_output;          /* over its output budget: end everything, or drop the excess */
  uint64_t output_left, state_left;
  uint64_t state_since_us;      /* how long unread state has waited; 0 if there is none */
  uint64_t output_dropped[STATE_STREAM]; /* of stdout and stderr, which share the budget */
  bool is_split;                /* a fork of another one, see serve/splits.c */
  bool output_exceeded, is_terminal, is_own_task; /* the last runs no guest code: see files/collect.c and files/service.c */
  uint32_t held;                /* the streams that the host does not want for now: enum held */
  struct inlet input, channel;
};

extern struct spawn spawns[SPAWNS_MAX];
extern int spawn_places; /* the number of table entries used so far; the rest are empty */

struct spawn *add_spawn(uint32_t id);  /* or NULL if the table is full */
struct spawn *find_spawn(uint32_t id); /* or NULL */
bool awaits_fork(void);     /* of the zygote: asked for, and not ours yet */
bool is_own_task(long pid); /* our child, which no one may inspect and no guest can control */

#endif
