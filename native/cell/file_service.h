/*
 * What the tasks of the file service share: how they say what went wrong, the one record that all of them speak in,
 * and the walk through a tree that a guest may be changing.
 */
#ifndef LAZARET_FILE_SERVICE_H
#define LAZARET_FILE_SERVICE_H

#include "cell.h"

#include <sys/stat.h>

enum {
  TREE_DEPTH_MAX = 64, /* folders in one another; also descriptors at one time */
  NAME_BYTES = 255,    /* NAME_MAX */
  TREE_PATH_BYTES_MAX = (TREE_DEPTH_MAX + 1) * (NAME_BYTES + 1),
  TARGET_BYTES_MAX = 4096,
  PIECE_BYTES = 64 << 10,
};

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
  RECORD_UNREADABLE = 'u', /* of what was named before, or could not be opened at all; size is the errno */
};

/* Says on standard error `errno step path`, the path as it is. Always false. */
bool refuse(const char *step, const char *path);

bool emit(const void *bytes, size_t length);
bool emit_word(uint32_t word);
bool emit_record(enum record_kind kind, const struct stat *facts, const char *path, const char *target);
bool emit_end(bool complete);
enum record_kind kind_of(mode_t mode);

/* Opens one thing below a folder, following no link and leaving no file system. */
int open_inside(int folder, const char *name, uint64_t flags);
/* Opens a regular file without ever waiting; -1 with errno set: EISDIR or EINVAL for what is no file. */
int open_regular(int folder, const char *name, int flags, struct stat *facts);
bool make_folders(const char *path, bool last_too);
bool copy_bytes(int from, int to);

struct entry {
  int folder; /* where it lies */
  const char *name;
  const char *path; /* from where the walk began */
  struct stat facts;
};

struct walk {
  bool deep;
  bool (*meet)(const struct entry *entry);    /* each entry, before what is in it; false ends the walk */
  bool (*miss)(const struct entry *entry);    /* what could not be looked into, or not even at, with errno */
  bool (*empty)(int folder, const char *name, const char *path); /* may be NULL: a folder, after what was in it */
};

/* Whether it was met before it was missed: a folder lets nobody look at what it names to whoever may only read it. */
bool is_met(const struct entry *entry);
/* False when it was ended. Takes the descriptor. */
bool walk_tree(int root, const struct walk *walk);

/* One task each. False when it said why. */
bool list_folder(char *const arguments[]);
bool delete_path(char *const arguments[]);
bool read_content(char *const arguments[]);
bool write_content(char *const arguments[]);
bool rename_path(char *const arguments[]);
bool move_path(char *const arguments[]);
bool pack_folder(char *const arguments[]);
bool unpack_folder(char *const arguments[]);

#endif
