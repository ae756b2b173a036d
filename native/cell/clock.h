/*
 * Time, in microseconds.
 */
#ifndef LAZARET_CLOCK_H
#define LAZARET_CLOCK_H
#include <stdint.h>
#include <sys/time.h>

uint64_t now_us(void); /* monotonic */
uint64_t time_us(struct timeval time);

#endif
