/*
 * An engine's own descriptors, which a fork must not share with its zygote and its siblings: epolls, eventfds, the two
 * ends of a pipe and /dev/null. They are recreated under the same numbers.
 */
#ifndef LAZARET_DESCRIPTORS_H
#define LAZARET_DESCRIPTORS_H

#include <stddef.h>

enum { DESCRIPTORS_MAX = 64 }; /* their numbers are below it */

/* In the zygote: records those above `last_given`. NULL, or a text about one that cannot be recreated, in a static buffer. */
const char *note_descriptors(int last_given);

/* In a fork. NULL, or the step that failed, with errno set. */
const char *renew_descriptors(void);

#endif
