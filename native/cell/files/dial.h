/*
 * A connection to a server of the sandbox, for its owner.
 */
#ifndef LAZARET_DIAL_H
#define LAZARET_DIAL_H
#include <stdbool.h>

bool dial_port(char *const arguments[]);

#endif
