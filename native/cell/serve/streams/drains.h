/*
 * Output that nobody wants any more: it is read and discarded.
 */
#ifndef LAZARET_DRAINS_H
#define LAZARET_DRAINS_H
#include <stdbool.h>

void drain_on(int fd);    /* takes ownership of the descriptor */
int drains_fd(void);      /* for poll: -1 when there is nothing to read now */
int drains_wait_ms(void); /* for poll: -1 when there is no pause to wait for */
void drain_some(void);

#endif
