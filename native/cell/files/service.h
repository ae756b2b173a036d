/*
 * File operations of a sandbox's owner.
 */
#ifndef LAZARET_SERVICE_H
#define LAZARET_SERVICE_H

/* What a spawn with SPAWN_FILES does instead of executing a program. Returns the exit code. */
int serve_files(const char *task, char *const arguments[]);

#endif
