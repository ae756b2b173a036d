/*
 * Confines the relay itself, in case a bug of it is ever exploited.
 */
#ifndef LAZARET_CONFINE_H
#define LAZARET_CONFINE_H

void confine(void);

#endif
