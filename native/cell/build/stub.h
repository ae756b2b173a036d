/*
 * The stub: the parent of pid 1 or of the warden.
 */
#ifndef LAZARET_STUB_H
#define LAZARET_STUB_H
#include <sys/types.h>

_Noreturn void run_stub(pid_t pid1, int pidfd, int sync_fd);

#endif
