/*
 * Bringing files of the workspace back to the host.
 */
#ifndef LAZARET_COLLECT_H
#define LAZARET_COLLECT_H

/* What a spawn with SPAWN_COLLECTS does instead of executing a program. Returns the exit code. */
int collect_files(const char *what, char *const arguments[]);

#endif
