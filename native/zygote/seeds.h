/*
 * The stream of random bytes from which JavaScriptCore seeds each new realm. All forks would continue from the same
 * one.
 */
#ifndef LAZARET_SEEDS_H
#define LAZARET_SEEDS_H

/* How many bytes it gives before it asks the kernel for new ones, or -1 if it is not found. */
int seed_bytes_left(void);

/* From now on it asks the kernel first. */
void use_up_seeds(void);

#endif
