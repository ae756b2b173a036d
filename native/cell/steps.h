/*
 * One function per record of the plan, in the order of their numbers. Each reads its whole payload before it does anything.
 */
#ifndef LAZARET_STEPS_H
#define LAZARET_STEPS_H

#include "cell.h"

void step_open_tree(struct reader *record);
void step_open_write(struct reader *record);
void step_id_maps(struct reader *record);
void step_become(struct reader *record);
void step_clone(struct reader *record);
void step_join(struct reader *record);
void step_set_ids(struct reader *record);
void step_guard(struct reader *record);
void step_unshare(struct reader *record);
void step_private(struct reader *record);
void step_root(struct reader *record);
void step_directory(struct reader *record);
void step_file(struct reader *record);
void step_symlink(struct reader *record);
void step_bind(struct reader *record);
void step_mount(struct reader *record);
void step_pivot(struct reader *record);
void step_mask(struct reader *record);
void step_read_only(struct reader *record);
void step_set_attributes(struct reader *record);
void step_root_guard(struct reader *record);
void step_loopback(struct reader *record);
void step_hostname(struct reader *record);
void step_guest_ids(struct reader *record);
void step_guest_filter(struct reader *record);
void step_guest_landlock(struct reader *record);
void step_keep_capabilities(struct reader *record);
void step_serve(struct reader *record);
void step_work(struct reader *record);
void step_take_ids(struct reader *record);
void step_confine(struct reader *record);
void step_warden(struct reader *record);
void step_remove(struct reader *record);
void step_listen(struct reader *record);
void step_open_folder(struct reader *record);
void step_open_at(struct reader *record);
void step_guest_join(struct reader *record);
void step_forks(struct reader *record);
void step_family(struct reader *record);
void step_restrict(struct reader *record);
void step_open_workspace(struct reader *record);
void step_claim_ids(struct reader *record);
void step_open_lower(struct reader *record);
void step_own_view(struct reader *record);
void step_bind_own(struct reader *record);
void step_count_locks(struct reader *record);
void step_setting(struct reader *record);

#endif
