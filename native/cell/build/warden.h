/*
 * A cell without namespaces, where the warden stands in for pid 1.
 */
#ifndef LAZARET_WARDEN_H
#define LAZARET_WARDEN_H
#include "frames.h"

void step_work(struct reader *record);
void step_take_ids(struct reader *record);
void step_confine(struct reader *record);
void step_warden(struct reader *record);

#endif
