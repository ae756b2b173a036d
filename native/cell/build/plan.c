/*
 * The plan: an ordered list of records, `u32 operation, u32 length, payload`, applied one by one.
 * The first failure is reported as record + step + errno, and nothing runs.
 */
#include "build/plan.h"
#include "cell.h"
#include "filters.h"
#include "frames.h"
#include "ids.h"
#include "record.h"
#include "build/cgroups.h"
#include "build/claims.h"
#include "build/door.h"
#include "build/mounts.h"
#include "build/namespaces.h"
#include "build/own_view.h"
#include "build/warden.h"
#include "build/workspace.h"
#include "nursery/family.h"
#include "serve/forks.h"
#include "serve/serve.h"
#include "watch/files/locks.h"
#include "watch/files/work.h"

#include <errno.h>

/* Index = operation number; src/jail/plan/plan-records.ts holds the same list. */
static void (*const steps[])(struct reader *) = {
    NULL,
    step_open_tree,
    step_open_write,
    step_id_maps,
    step_become,
    step_clone,
    step_join,
    step_set_ids,
    step_guard,
    step_unshare,
    step_private,
    step_root,
    step_directory,
    step_file,
    step_symlink,
    step_bind,
    step_mount,
    step_pivot,
    step_mask,
    step_read_only,
    step_set_attributes,
    step_root_guard,
    step_loopback,
    step_hostname,
    step_guest_ids,
    step_guest_filter,
    step_guest_landlock,
    step_keep_capabilities,
    step_serve,
    step_work,
    step_take_ids,
    step_confine,
    step_warden,
    step_remove,
    step_listen,
    step_open_folder,
    step_open_at,
    step_guest_join,
    step_forks,
    step_family,
    step_restrict,
    step_open_workspace,
    step_claim_ids,
    step_open_lower,
    step_own_view,
    step_bind_own,
    step_count_locks,
    step_setting,
    step_divided_tmpfs,
    step_reach_relay,
    step_door,
    step_read_ahead,
};

void apply_plan(struct reader plan) {
  for (cell.record = 0; plan.left > 0; cell.record++) {
    uint32_t operation = take_u32(&plan);
    uint32_t length = 0;
    const uint8_t *payload = take_bytes(&plan, &length);
    errno = EPROTO;
    if (plan.bad || operation == 0 || operation >= sizeof steps / sizeof *steps) fail("parse a record");
    struct reader record = reader_of(payload, length);
    steps[operation](&record);
    if (cell.is_new_launcher) return; /* its own plan follows, and this one is its parent's */
    require_whole(&record);
  }
}
