/*
 * Opening and making what a path names.
 */
#ifndef LAZARET_PATHS_H
#define LAZARET_PATHS_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
  NAME_BYTES = 255, /* NAME_MAX */
  TARGET_BYTES_MAX = 4096,
};

/* Opens one thing below a folder, following no link and leaving no file system. */
int open_inside(int folder, const char *name, uint64_t flags);
/* Opens a regular file without ever blocking; -1 with errno set: EISDIR or EINVAL for anything else. */
int open_regular(int folder, const char *name, int flags, struct stat *facts);
bool make_folders(const char *path, bool last_too);

#endif
