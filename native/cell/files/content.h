/*
 * Files, one at a time.
 */
#ifndef LAZARET_CONTENT_H
#define LAZARET_CONTENT_H
#include <stdbool.h>

/* One task each. False after an error, which is already reported. */
bool read_content(char *const arguments[]);
bool write_content(char *const arguments[]);
bool rename_path(char *const arguments[]);
bool move_path(char *const arguments[]);

#endif
