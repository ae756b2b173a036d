/*
 * Mounts: the view of files that guests get.
 */
#ifndef LAZARET_MOUNTS_H
#define LAZARET_MOUNTS_H
#include "frames.h"

void step_private(struct reader *record);
void step_root(struct reader *record);
void step_directory(struct reader *record);
void step_file(struct reader *record);
void step_symlink(struct reader *record);
void step_open_tree(struct reader *record);
void step_bind(struct reader *record);
void step_mount(struct reader *record);
void step_divided_tmpfs(struct reader *record);
void step_pivot(struct reader *record);
void step_mask(struct reader *record);
void step_read_only(struct reader *record);
void step_set_attributes(struct reader *record);
void step_root_guard(struct reader *record);

#endif
