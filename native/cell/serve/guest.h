/*
 * The last steps before foreign code runs, shared by a guest that is started as a program (spawn.c) and one that is a
 * fork of an interpreter (native/zygote): what the host asks for, and the confinement that both end in.
 */
#ifndef LAZARET_GUEST_H
#define LAZARET_GUEST_H

#include "serve/limits.h"

enum {
  SPAWN_HAS_STDIN = 1,
  SPAWN_HAS_CHANNEL = 2, /* descriptor 3 is the cell's channel */
  SPAWN_ENDS_ON_OUTPUT = 4,
  SPAWN_COLLECTS = 8,
  SPAWN_FORKS = 16, /* a fork of the cell's zygote instead of a program */
  SPAWN_HAS_STATE = 32, /* descriptor 3 is a stream to the host */
  SPAWN_HAS_TERMINAL = 64,
  SPAWN_ADOPTS = 128, /* it adopts the children of its ended descendants, see tree.c */
  SPAWN_FILES = 256, /* a task of files/service.c instead of a program */
  SPAWN_HAS_OWN_CHANNEL = 512, /* descriptor 3 is a socket that pid 1 relays */
  SPAWN_SPLITS = 1024, /* a fork that a running guest makes of itself, see splits.c */
  SPAWN_FLAGS = 2047,
  SPAWN_HAS_DESCRIPTOR_3 = SPAWN_HAS_CHANNEL | SPAWN_HAS_STATE | SPAWN_HAS_OWN_CHANNEL, /* at most one of these */
};

enum { ARGUMENTS_MAX = 8192 }; /* argv plus environment entries of one spawn */

/*
 * What a guest has above its standard streams: its channel, and the exec pipe, which execve closes. The rest is closed.
 */
enum { GUEST_CHANNEL_FD = 3, EXEC_FD = 4, GUEST_FDS = 5 };

struct program {
  uint32_t flags;
  struct watched watched;
  const char *folder;
  const char *file;
  struct guest_rlimits rlimits;
  char *arguments[ARGUMENTS_MAX]; /* argv, NULL, environment, NULL */
  char **environment;
  uint32_t columns, rows; /* of its terminal */
  uint32_t origin; /* which spawn it is a fork of */
};

/* Reads the payload of a SPAWN frame. The strings stay in its buffer. */
bool take_program(struct program *program, struct spawn *spawn, struct reader *request);

/* Each returns NULL, or the name of the step that failed, with errno set. */
const char *arrange_descriptors(const int fds[GUEST_FDS]); /* stdin, stdout, stderr, channel or -1, exec pipe */
const char *confine_guest(const struct program *program);

/* Reports on the exec pipe which step failed. */
void report_failed_step(int fd, const char *step);

#endif
