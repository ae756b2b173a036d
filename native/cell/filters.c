/*
 * Filters on system calls (seccomp) and on files, sockets and signals (Landlock). Both come from the plan. Seccomp
 * applies to guests, never to pid 1. So does Landlock, which forbids mounts; only pid 1 of a sandbox's space applies it
 * to itself, after its last mount.
 */
#include "filters.h"
#include "cell.h"
#include "frames.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Written out, because distributions' headers are older than the kernels they run on. */
struct ruleset_attr {
  uint64_t handled_files;
  uint64_t handled_network;
  uint64_t scoped;
};
struct path_beneath_attr {
  uint64_t allowed;
  int32_t parent_fd;
} __attribute__((packed));
struct net_port_attr {
  uint64_t allowed;
  uint64_t port;
};
enum { RULE_PATH_BENEATH = 1, RULE_NET_PORT = 2 };

/* What may be granted on a file that is not a folder; the kernel refuses the rest with EINVAL. */
static const uint64_t FILE_ACCESS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15; /* execute, write, read, truncate, ioctl */

void step_guest_filter(struct reader *record) {
  cell.filter = take_bytes(record, &cell.filter_bytes);
  errno = EPROTO;
  uint32_t count = cell.filter_bytes / (uint32_t)sizeof(struct sock_filter);
  if (record->bad || count == 0 || count > FILTER_INSTRUCTIONS_MAX || cell.filter_bytes % sizeof(struct sock_filter)) {
    fail("read the system call filter");
  }
}

void step_guest_landlock(struct reader *record) {
  cell.landlock = *record;
  cell.has_landlock = true;
  *record = reader_of(record->at + record->left, 0); /* parsed in each guest, where its paths can be opened */
}

static bool allow_path(int ruleset, const char *path, uint64_t allowed) {
  int fd = open(path, O_PATH | O_CLOEXEC);
  /* A path that does not exist, or that guests cannot reach, needs no permission. */
  if (fd < 0) return errno == ENOENT || errno == EACCES;
  struct stat facts;
  bool known = fstat(fd, &facts) == 0;
  struct path_beneath_attr rule = {.allowed = allowed, .parent_fd = fd};
  if (known && !S_ISDIR(facts.st_mode)) rule.allowed &= FILE_ACCESS;
  bool added = known && syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0) == 0;
  int error = errno;
  close(fd);
  errno = error;
  return added;
}

/* The plan holds one row for each Landlock ABI, newest first; this kernel's row is the first one that it supports. */
static bool take_ruleset(struct reader *rules, struct ruleset_attr *attributes, size_t *attribute_bytes) {
  enum { ASK_FOR_VERSION = 1 };
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_FOR_VERSION);
  if (abi < 0) return false;
  uint32_t rows = take_u32(rules);
  *attribute_bytes = 0;
  for (uint32_t i = 0; i < rows && !rules->bad; i++) {
    long row_abi = (long)take_u32(rules);
    size_t bytes = take_u32(rules); /* older kernels refuse a longer struct than they know */
    struct ruleset_attr row = {.handled_files = take_u64(rules)};
    row.handled_network = take_u64(rules);
    row.scoped = take_u64(rules);
    if (*attribute_bytes > 0 || abi < row_abi) continue;
    *attributes = row;
    *attribute_bytes = bytes;
  }
  errno = EPROTO;
  return !rules->bad && *attribute_bytes > 0 && *attribute_bytes <= sizeof *attributes;
}

/* Landlock lists what is allowed, so the protected ports are all those outside these ranges. */
static bool allow_ports(int ruleset, struct reader *rules, uint64_t handled_network) {
  enum { BIND_TCP = 1, PORTS_END = 1 << 16 };
  uint32_t ranges = take_u32(rules);
  errno = EOPNOTSUPP;
  if (ranges > 0 && !(handled_network & BIND_TCP)) return false; /* a kernel without such rules, before 6.7 */
  for (uint32_t i = 0; i < ranges && !rules->bad; i++) {
    uint32_t first = take_u32(rules);
    uint32_t last = take_u32(rules);
    errno = EPROTO;
    if (last >= PORTS_END) return false;
    for (uint32_t port = first; port <= last; port++) {
      struct net_port_attr rule = {.allowed = BIND_TCP, .port = port};
      if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) < 0) return false;
    }
  }
  return true;
}

/*
 * A ruleset of scopes alone, from ABI 6; -1 if there is none. Moving files between folders is refused by every domain
 * that does not allow it, so this one does; the guests' own domain decides what they may move.
 */
int open_scope(uint64_t scoped) {
  enum { ASK_FOR_VERSION = 1, SCOPING_ABI = 6, REFER = 1 << 13 };
  errno = EOPNOTSUPP;
  if (syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_FOR_VERSION) < SCOPING_ABI) return -1;
  struct ruleset_attr attributes = {.handled_files = REFER, .scoped = scoped};
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (ruleset < 0 || allow_path(ruleset, "/", REFER)) return ruleset;
  close(ruleset);
  return -1;
}

bool scope_signals(void) {
  int ruleset = open_scope(SCOPE_SIGNALS);
  if (ruleset < 0) return false;
  bool restricted = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return restricted;
}

bool restrict_with_landlock(void) {
  if (!cell.has_landlock) return true;
  struct reader rules = cell.landlock;
  size_t attribute_bytes = 0;
  struct ruleset_attr attributes;
  if (!take_ruleset(&rules, &attributes, &attribute_bytes)) return false;
  uint32_t count = take_u32(&rules);
  errno = EPROTO;
  if (rules.bad || count > LANDLOCK_RULES_MAX) return false;
  int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, attribute_bytes, 0);
  if (ruleset < 0) return false;
  for (uint32_t i = 0; i < count; i++) {
    const char *path = take_string(&rules);
    uint64_t allowed = take_u64(&rules);
    if (!allow_path(ruleset, path, allowed & attributes.handled_files)) return false;
  }
  if (!allow_ports(ruleset, &rules, attributes.handled_network)) return false;
  errno = EPROTO;
  if (!reader_done(&rules)) return false;
  bool restricted = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  int error = errno;
  close(ruleset);
  errno = error;
  return restricted;
}

/*
 * Restricts this process, so that all guests of a space share its domain: those of one command may signal and inspect
 * those of another.
 */
void step_restrict(struct reader *record) {
  require_whole(record);
  errno = EPROTO;
  if (!cell.has_landlock) fail("find a Landlock policy");
  if (!restrict_with_landlock()) fail("apply Landlock");
  cell.has_landlock = false;
}

bool restrict_with_seccomp(void) {
  if (!cell.filter) {
    errno = EPROTO; /* a plan without a filter is a mistake */
    return false;
  }
  /* The record's payload need not be aligned for the kernel's struct, so it is copied. */
  static struct sock_filter instructions[FILTER_INSTRUCTIONS_MAX];
  __builtin_memcpy(instructions, cell.filter, cell.filter_bytes);
  struct sock_fprog program = {
      .len = (unsigned short)(cell.filter_bytes / sizeof(struct sock_filter)),
      .filter = instructions,
  };
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
