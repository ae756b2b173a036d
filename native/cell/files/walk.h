/*
 * Walks a tree that a guest may be changing; and the two tasks that do nothing else.
 */
#ifndef LAZARET_WALK_H
#define LAZARET_WALK_H
#include "files/paths.h"

enum {
  TREE_DEPTH_MAX = 64, /* nested folders, and descriptors open at one time */
  TREE_PATH_BYTES_MAX = (TREE_DEPTH_MAX + 1) * (NAME_BYTES + 1),
};

struct entry {
  int folder; /* where it lies */
  const char *name;
  const char *path; /* from where the walk began */
  struct stat facts;
};

struct walk {
  bool deep;
  bool (*meet)(const struct entry *entry);    /* each entry, before what is in it; false ends the walk */
  bool (*miss)(const struct entry *entry);    /* an entry that cannot be opened, or not even inspected, with errno */
  bool (*empty)(int folder, const char *name, const char *path); /* may be NULL: a folder, after what was in it */
};

/*
 * Whether `meet` had the entry before `miss`. Entries of a folder with read but no search permission have names, but
 * cannot be inspected.
 */
bool is_met(const struct entry *entry);
/* Takes ownership of the descriptor. False when a callback ended the walk. */
bool walk_tree(int root, const struct walk *walk);

/* One task each. False after an error, which is already reported. */
bool list_folder(char *const arguments[]);
bool delete_path(char *const arguments[]);

#endif
