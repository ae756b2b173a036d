/*
 * What the relay itself may do, should a bug of it ever be used.
 */
#ifndef LAZARET_CONFINE_H
#define LAZARET_CONFINE_H

void confine(void);

#endif
