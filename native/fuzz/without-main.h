/*
 * What main.c gives to the rest of the launcher, for a target that begins behind it.
 */
#ifndef LAZARET_WITHOUT_MAIN_H
#define LAZARET_WITHOUT_MAIN_H

#include "../cell/cell.h"

struct cell cell;

_Noreturn void fail(const char *what) {
  (void)what;
  fake_exit(1);
}

void check(long result, const char *what) {
  if (result < 0) fail(what);
}

_Noreturn void launch(void) { fake_exit(0); }

#endif
