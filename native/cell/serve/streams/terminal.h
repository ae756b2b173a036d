/*
 * Terminals: pseudoterminals of the cell.
 */
#ifndef LAZARET_TERMINAL_H
#define LAZARET_TERMINAL_H
#include <stdbool.h>
#include <stdint.h>

int open_terminal(int *guest_end); /* returns the master; -1 with errno set */
bool resize_terminal(int fd, uint32_t columns, uint32_t rows);

#endif
