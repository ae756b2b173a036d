/*
 * The kernel that fuzz targets run against: answers come from a seed, bytes come from the input, and nothing reaches the
 * machine. It also watches: a kill of a stranger, a frame that no host could read or a path component that should never
 * have been used ends the target as a crash does.
 */
#ifndef LAZARET_FAKE_KERNEL_H
#define LAZARET_FAKE_KERNEL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
  const uint8_t *at;
  size_t left;
};

/* Zero: every call works. Otherwise one in that number of calls fails, and arriving data is split. */
void fake_begin(uint32_t seed, struct bytes control, struct bytes text);

/* Not pid 1 of a namespace, until the plan has made one. */
void fake_be_outside(void);

/* Where fake_exit jumps to. The target sets it: `if (setjmp(fake_end) == 0) …`. */
extern jmp_buf fake_end;

/* A number that the input chooses, below `bound`. */
uint32_t fake_number(uint32_t bound);

/* What the collector wrote, to be checked by its target. */
extern uint8_t fake_written[1 << 16];
extern size_t fake_written_bytes;

/* Takes the seed from the front of an input. */
uint32_t take_seed(struct bytes *input);

/* Reports a finding and ends the target. */
_Noreturn void found(const char *what);

#endif
