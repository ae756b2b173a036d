/*
 * How the tasks of the file service report results and errors: records on standard output, and a step with its errno on
 * standard error.
 */
#include "files/records.h"
#include "frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool refuse(const char *step, const char *path) {
  char number[16];
  int length = snprintf(number, sizeof number, "%d ", errno);
  (void)(write_exactly(STDERR_FILENO, number, (size_t)length) && write_exactly(STDERR_FILENO, step, strlen(step)) &&
         write_exactly(STDERR_FILENO, " ", 1) && write_exactly(STDERR_FILENO, path, strlen(path)));
  return false;
}

bool emit(const void *bytes, size_t length) { return fwrite(bytes, 1, length, stdout) == length; }

bool emit_word(uint32_t word) {
  uint8_t bytes[4];
  put_u32(bytes, word);
  return emit(bytes, sizeof bytes);
}

static bool emit_text(const char *text) { return emit_word((uint32_t)strlen(text)) && emit(text, strlen(text)); }

/* Guests may set times that have no milliseconds in 64 bits. */
static int64_t milliseconds(struct timespec time) {
  const int64_t most = INT64_MAX / 1000 - 1;
  int64_t seconds = time.tv_sec > most ? most : time.tv_sec;
  if (seconds < -most) seconds = -most;
  return seconds * 1000 + time.tv_nsec / 1000000;
}

bool emit_record(enum record_kind kind, const struct stat *facts, const char *path, const char *target) {
  uint8_t head[21] = {(uint8_t)kind};
  put_u32(head + 1, facts->st_mode & 07777);
  put_u64(head + 5, (uint64_t)milliseconds(facts->st_mtim));
  put_u64(head + 13, (uint64_t)facts->st_size);
  return emit(head, sizeof head) && emit_text(path) && emit_text(target);
}

bool emit_end(bool complete) {
  struct stat facts = {.st_mode = complete ? 0 : 1};
  return emit_record(RECORD_END, &facts, "", "");
}

enum record_kind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return RECORD_FILE;
    case S_IFDIR:
      return RECORD_FOLDER;
    case S_IFLNK:
      return RECORD_LINK;
    case S_IFIFO:
      return RECORD_FIFO;
    case S_IFSOCK:
      return RECORD_SOCKET;
    case S_IFCHR:
      return RECORD_CHARACTER_DEVICE;
    default:
      return RECORD_BLOCK_DEVICE;
  }
}
