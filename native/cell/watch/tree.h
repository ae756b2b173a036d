/*
 * The end of one process, which adopts its descendants, and of everything that it has started.
 */
#ifndef LAZARET_TREE_H
#define LAZARET_TREE_H
#include <sys/types.h>

void kill_tree(pid_t root);
void signal_tree(pid_t root, int number);

#endif
