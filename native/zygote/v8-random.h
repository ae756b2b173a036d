/*
 * Where V8's random numbers come from. Each isolate has a generator of seeds; the Math.random of a realm takes one when
 * it is called for the first time, and then continues on its own. Forks would continue with the same ones.
 */
#ifndef LAZARET_V8_RANDOM_H
#define LAZARET_V8_RANDOM_H

#include <stdbool.h>

/* The number of values that a realm makes at a time. It gives the last one first. */
enum { NUMBERS_READY = 64 };

/* Remembers where they are. How many, or -1 when they are more than can be remembered. */
int find_generators(void);

/* Whether the state of one has changed since this was asked last. */
bool generators_have_drawn(void);

/* In a fork: each continues from a state that the kernel gave. False when that failed. */
bool renew_generators(void);

/*
 * The realm that gave these numbers just now, in this order, is to take a new seed as soon as the numbers that it has ready
 * are used up: how many these are, or -1 when it was not found.
 */
int forget_seed(const double drawn[NUMBERS_READY]);

#endif
