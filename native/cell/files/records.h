/*
 * The record format that all tasks of the file service share, and how they report errors.
 */
#ifndef LAZARET_RECORDS_H
#define LAZARET_RECORDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum { PIECE_BYTES = 64 << 10 }; /* of content, at one time */

/* The first byte of a record: `u8 kind, u32 mode, u64 modified_ms, u64 size, u32 length, path, u32 length, target`. */
enum record_kind {
  RECORD_END = 0, /* mode 1: something was left out because there was too much */
  RECORD_FILE = 'f',
  RECORD_FOLDER = 'd',
  RECORD_LINK = 'l',
  RECORD_HARD_LINK = 'h',
  RECORD_FIFO = 'p',
  RECORD_SOCKET = 's',
  RECORD_CHARACTER_DEVICE = 'c',
  RECORD_BLOCK_DEVICE = 'b',
  RECORD_UNREADABLE = 'u', /* an entry that cannot be read, whether listed before or not; size is the errno */
};

/* Writes `errno step path` to standard error, with the path unescaped. Always false. */
bool refuse(const char *step, const char *path);

bool emit(const void *bytes, size_t length);
bool emit_word(uint32_t word);
bool emit_record(enum record_kind kind, const struct stat *facts, const char *path, const char *target);
bool emit_end(bool complete);
enum record_kind kind_of(mode_t mode);

#endif
