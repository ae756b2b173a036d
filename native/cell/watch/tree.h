/*
 * Ends one process, which adopts its descendants, and everything that it has started.
 */
#ifndef LAZARET_TREE_H
#define LAZARET_TREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

void kill_tree(pid_t root, bool spares_others);
void kill_strangers(const pid_t *roots, size_t count); /* whatever is in the trees of none of these */
void signal_tree(pid_t root, int number);

#endif
