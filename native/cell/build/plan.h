/*
 * The plan, applied record by record.
 */
#ifndef LAZARET_PLAN_H
#define LAZARET_PLAN_H
#include "frames.h"

/* Returns at its end, or where a family's pid 1 has forked this process as a launcher (`cell.is_new_launcher`). */
void apply_plan(struct reader plan);

#endif
