/*
 * A zygote of Python. Loaded with ctypes.PyDLL, so that the caller holds the interpreter's lock. Single-threaded.
 */
#include "fork_guests.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The interpreter's own; resolved in the program that loads this. */
extern void PyOS_BeforeFork(void);
extern void PyOS_AfterFork_Parent(void);
extern void PyOS_AfterFork_Child(void);

EXPORTED int zygote_serve(int socket_fd);
EXPORTED char *const *zygote_environment(void);
EXPORTED bool zygote_has_new_environment(void);

static const char *go_on(void) {
  PyOS_AfterFork_Child();
  return NULL;
}

int zygote_serve(int socket_fd) {
  static const struct engine python = {
      .before = PyOS_BeforeFork, .after = PyOS_AfterFork_Parent, .fork = fork, .go_on = go_on};
  return fork_guests(socket_fd, &python);
}

char *const *zygote_environment(void) { return given_environment(); }

bool zygote_has_new_environment(void) { return is_environment_new(); }
