/*
 * Walking a tree that a guest may be changing, and the two tasks that do nothing else.
 */
#ifndef LAZARET_WALK_H
#define LAZARET_WALK_H
#include "files/paths.h"

enum {
  TREE_DEPTH_MAX = 64, /* folders in one another; also descriptors at one time */
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
  bool (*miss)(const struct entry *entry);    /* what could not be looked into, or not even at, with errno */
  bool (*empty)(int folder, const char *name, const char *path); /* may be NULL: a folder, after what was in it */
};

/*
 * Whether it was met before it was missed: a folder that may only be read shows names, but does not let anyone open
 * them.
 */
bool is_met(const struct entry *entry);
/* False when it was ended. Takes the descriptor. */
bool walk_tree(int root, const struct walk *walk);

/* One task each. False when it said why. */
bool list_folder(char *const arguments[]);
bool delete_path(char *const arguments[]);

#endif
