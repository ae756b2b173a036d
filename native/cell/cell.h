/*
 * The cell that this process builds or serves: the values of the plan that later steps need, the descriptors from the
 * host, and how a failed step is reported.
 */
#ifndef LAZARET_CELL_H
#define LAZARET_CELL_H
#include "frames.h"

#include <sys/types.h>

/* Descriptors that the host hands over. 0 and 2 are /dev/null. */
enum { REPORT_FD = 1, CONTROL_FD = 3, CHANNEL_FD = 4 };

enum {
  SLOTS_MAX = 64,  /* descriptors opened ahead of the mounts */
  CGROUPS_MAX = 3, /* one file per hierarchy */
};

/* Permissions that new files and folders lack. */
enum { UMASK = 022 };

/* Values of the plan that later steps need. One cell per process. */
struct cell {
  uint32_t record;          /* index of the record being applied, for reports */
  int slots[SLOTS_MAX];
  /* id maps, to be written from outside the new user namespace */
  const char *uid_map;
  const char *gid_map;
  bool deny_setgroups;
  uid_t own_uid;            /* the cell's uid while the saved uid is root: see ids.c. Else 0 */
  bool is_new_launcher;     /* forked by a family's pid 1 as a launcher: its own plan comes next */
  int view_fd;              /* the host's files as the cell sees them, while their parts are mounted, or 0 */
  const char *view_at;
  int sync_fd;              /* socket between stub and pid 1 during construction, or -1 */
  uint64_t namespaces;      /* CLONE_NEW* flags of the namespaces that this process was created in */
  /* spaces, whose guest is a fork of their cell's zygote */
  int zygote_fd;            /* socket to it, or -1 */
  int guest_joins[CGROUPS_MAX];
  uint32_t guest_join_count;
  /* without namespaces */
  bool is_warded;           /* the warden stands in for pid 1, and the guests are its descendants */
  bool scoped;              /* our signals reach only processes below us */
  const char *work;         /* the run's folder on the host, or NULL */
  uint64_t disk_bytes;      /* how much may be in it */
  uint64_t disk_entries;
  bool guest_changes_ids;
  uid_t guest_uid;
  gid_t guest_gid;
  const char *fork_root;    /* of pid 1: where a fork of the zygote finds the cell's root in its namespace */
  const char *guest_root;   /* of such a fork: chroot here. Whatever pid 1 starts is in the cell's root already */
  struct { int fd; uint32_t most; } locks; /* the kernel's list, or 0; more locks than `most` count as out of memory */
  int relay_fd;             /* socket to the relay, for a network policy, or 0 */
  bool has_own_network;     /* no socket of the host is in its network namespace */
  const uint8_t *filter;
  uint32_t filter_bytes;
  struct reader landlock;   /* the record's payload, applied in each guest */
  bool has_landlock;
};
extern struct cell cell;

/*
 * Reports step name + errno and ends this process. Nothing runs afterwards. Pid 1 uses the report socket, too: the host
 * hardly ever writes to it, so no failed write makes the host close it before it has read the report.
 */
_Noreturn void fail(const char *what);
void check(long result, const char *what); /* fails when result is negative */

#endif
