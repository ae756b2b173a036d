/*
 * Descriptors of an engine's own, which a fork must not share with its zygote and its siblings: epolls, eventfds and
 * the two ends of a pipe. They are recreated under the same numbers.
 */
#ifndef LAZARET_DESCRIPTORS_H
#define LAZARET_DESCRIPTORS_H

#include <stddef.h>

enum { DESCRIPTORS_MAX = 64 }; /* their numbers are below it */

/* In the zygote: looks at those above `last_given`. NULL, or what is in the way, in a buffer of this file. */
const char *note_descriptors(int last_given);

/* In a fork. NULL, or the step that failed, with errno set. */
const char *renew_descriptors(void);

#endif
