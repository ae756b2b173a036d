/*
 * Watches of epoll: a survey that counts them and their memory.
 */
#ifndef LAZARET_WATCHES_H
#define LAZARET_WATCHES_H
#include "watch/survey.h"

void survey_watches(void);
uint64_t watch_bytes_over(const struct survey *survey);

#endif
