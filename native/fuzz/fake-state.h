/*
 * What the parts of the fake kernel share: when a call fails, when a run is over, and the bytes of the input.
 */
#ifndef LAZARET_FAKE_STATE_H
#define LAZARET_FAKE_STATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "fake-kernel.h"

struct clone_args;
struct open_how;

bool fake_is_perfect(void);         /* every call works */
bool fake_chance(uint32_t in);      /* true once in `in` calls on average; never when everything works */
void fake_count_call(void);         /* for calls that loops wait on; a run that is too long ends here */
struct bytes *fake_text(void);      /* files, names and standard input, in the order in which they are read */
int fake_any_fd(void);              /* a descriptor that nobody asked to open */

void fake_begin_processes(void);
void fake_begin_files(void);
long fake_prlimit(va_list arguments);
long fake_clone(const struct clone_args *wanted);
long fake_openat2(const char *name, const struct open_how *how);
long fake_pread(va_list arguments);
long fake_getrandom(va_list arguments);

#endif
