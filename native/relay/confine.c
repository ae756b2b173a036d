/*
 * Before it reads any byte, the relay gives up capabilities, new privileges and readability for other processes of its
 * user, and, if Landlock exists, every file of the host.
 */
#include "confine.h"
#include "relay.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of the machine that builds may be older than the kernel that runs: ABI 1 is enough. */
struct files_handled {
  uint64_t handled_access_fs;
};
enum { ALL_OF_ABI_1 = (1 << 13) - 1 };

static void leave_files(void) {
  struct files_handled none = {.handled_access_fs = ALL_OF_ABI_1};
  long ruleset = syscall(444 /* landlock_create_ruleset */, &none, sizeof none, 0);
  if (ruleset < 0) return; /* a kernel without it has no cells with namespaces and Landlock either */
  if (syscall(446 /* landlock_restrict_self */, ruleset, 0) < 0) give_up("apply Landlock");
  close((int)ruleset);
}

static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) give_up("clear ambient capabilities");
  if (syscall(SYS_capset, &header, none) < 0) give_up("drop capabilities");
}

/* Takes an id that owns nothing. In a user namespace without that id, dropping the capabilities has to be enough. */
static void leave_root(void) {
  enum { NOBODY = 65534 };
  if (geteuid() != 0) return;
  if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0) {
    if (errno != EINVAL && errno != EPERM) give_up("leave root");
  }
}

void confine(void) {
  pid_t host = getppid();
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) < 0) give_up("read the limit on descriptors");
  files.rlim_cur = files.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &files) < 0) give_up("raise the limit on descriptors");
  struct rlimit no_core = {0, 0};
  if (setrlimit(RLIMIT_CORE, &no_core) < 0) give_up("forbid core files");
  if (prctl(PR_SET_NAME, "relay", 0, 0, 0) < 0) give_up("take a name");
  leave_root();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) give_up("die with the host");
  if (getppid() != host) _exit(0);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) give_up("become undumpable");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) give_up("forbid new privileges");
  drop_capabilities();
  leave_files();
}
