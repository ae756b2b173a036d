/*
 * Claims of host ids, by locks on a file.
 */
#ifndef LAZARET_CLAIMS_H
#define LAZARET_CLAIMS_H
#include "frames.h"

void step_claim_ids(struct reader *record);

#endif
