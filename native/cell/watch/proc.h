/*
 * What /proc says, as text.
 */
#ifndef LAZARET_PROC_H
#define LAZARET_PROC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t read_text(const char *path, char *text, size_t size);
uint64_t field_bytes(const char *text, const char *name);
uint64_t count_lines(const char *path, uint64_t most);
uint64_t count_of_threads(const char *pid, uint64_t (*count)(const char *folder, uint64_t most), uint64_t most);
bool is_hidden(const char *folder, const char *name); /* for a process or thread that exists but cannot be inspected */

#endif
