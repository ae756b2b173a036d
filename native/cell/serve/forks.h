/*
 * A guest that is a fork of the zygote: how pid 1 of a space asks for one, and the packet in which it does.
 */
#ifndef LAZARET_FORKS_H
#define LAZARET_FORKS_H

#include "cell.h"
#include "serve/guest.h"

enum {
  NAMESPACE_KINDS = 6,
  FORK_FDS_MAX = NAMESPACE_KINDS + CGROUPS_MAX + GUEST_FDS,
  FORK_BYTES_MAX = 128 << 10, /* below the usual send buffer, of which a packet takes twice its size */
};

/* The numbers at the start of a packet, u32 each. Then: guests' root, filter, Landlock policy, payload of the SPAWN. */
enum { FORK_NAMESPACES, FORK_JOINS, FORK_CHANGES_IDS, FORK_UID, FORK_GID, FORK_NUMBERS };

struct namespace_kind {
  uint64_t flag;
  const char *path;
};

/* In the order in which their descriptors are sent, and in which a fork enters them. */
extern const struct namespace_kind namespace_kinds[NAMESPACE_KINDS];

void step_forks(struct reader *record);

/* Asks the zygote for a fork with these descriptors; the request is the payload of a SPAWN frame. */
bool ask_for_fork(const int guest_fds[GUEST_FDS], struct reader request);

#endif
