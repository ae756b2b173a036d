/*
 * A cell whose pid 1 is a nursery for spaces.
 */
#ifndef LAZARET_FAMILY_H
#define LAZARET_FAMILY_H
#include "frames.h"

void step_listen(struct reader *record);
void step_family(struct reader *record);

#endif
