/*
 * Where V8's random numbers come from. Each isolate has a generator of seeds. The Math.random of a realm takes a seed
 * at its first call, and then continues on its own. Forks would continue with the same numbers.
 */
#ifndef LAZARET_V8_RANDOM_H
#define LAZARET_V8_RANDOM_H

#include <stdbool.h>

/* The number of values that a realm makes at a time. It gives the last one first. */
enum { NUMBERS_READY = 64 };

/* Finds the generators and remembers their places. How many, or -1 if there are too many. */
int find_generators(void);

/* Whether the state of one has changed since the last call. */
bool generators_have_drawn(void);

/* In a fork: each continues from a state that the kernel gave. False when that failed. */
bool renew_generators(void);

/*
 * Makes the realm that just gave these numbers, in this order, take a new seed once its ready numbers are used up.
 * Returns how many are left, or -1 if the realm was not found.
 */
int forget_seed(const double drawn[NUMBERS_READY]);

#endif
