/*
 * Namespaces, and what is set in them.
 */
#ifndef LAZARET_NAMESPACES_H
#define LAZARET_NAMESPACES_H
#include "frames.h"

void step_clone(struct reader *record);
void step_guard(struct reader *record);
void step_unshare(struct reader *record);
void step_loopback(struct reader *record);
void step_hostname(struct reader *record);
void step_setting(struct reader *record);

#endif
