/*
 * A folder as a stream of records.
 */
#ifndef LAZARET_ARCHIVE_H
#define LAZARET_ARCHIVE_H
#include <stdbool.h>

/* One task each. False after an error, which is already reported. */
bool pack_folder(char *const arguments[]);
bool unpack_folder(char *const arguments[]);

#endif
