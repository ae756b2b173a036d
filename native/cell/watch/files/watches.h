/*
 * Watches of epoll: a survey of them, and how much they use.
 */
#ifndef LAZARET_WATCHES_H
#define LAZARET_WATCHES_H
#include "watch/survey.h"

void survey_watches(void);
uint64_t watch_bytes_over(const struct survey *survey);

#endif
