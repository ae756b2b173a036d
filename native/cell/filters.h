/*
 * Filters on system calls (seccomp) and on files, sockets and signals (Landlock).
 */
#ifndef LAZARET_FILTERS_H
#define LAZARET_FILTERS_H
#include "frames.h"

enum {
  LANDLOCK_RULES_MAX = 128,
  FILTER_INSTRUCTIONS_MAX = 4096, /* BPF_MAXINSNS */
};

void step_guest_filter(struct reader *record);
void step_guest_landlock(struct reader *record);
void step_restrict(struct reader *record);

/* A ruleset that scopes these and restricts nothing else. -1 with errno where the kernel has no scopes. */
enum scopes { SCOPE_SOCKETS = 1, SCOPE_SIGNALS = 2 };
int open_scope(uint64_t scoped);
bool scope_signals(void); /* false where the kernel has no such scope */
/* Called in a forked child that will become a guest. They return false with errno set. */
bool restrict_with_landlock(void);
bool restrict_with_seccomp(void);

#endif
