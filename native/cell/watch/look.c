/*
 * Bounds the time of a scan ("look"). Guests decide how much there is to scan, so each scan has a deadline.
 */
#include "watch/look.h"
#include "clock.h"

static uint64_t look_ends_us;

void begin_look(uint64_t most_us) { look_ends_us = now_us() + most_us; }

void begin_look_until(uint64_t moment_us) { look_ends_us = moment_us; }

bool look_is_over(void) { return now_us() >= look_ends_us; }
