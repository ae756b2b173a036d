/*
 * Executes a command on a machine that lacks something, as under a container engine, a distribution or an older kernel:
 *
 *   without WHAT... -- COMMAND [ARGUMENT...]
 *
 *   user-namespaces     no namespace can be made or entered and nothing be mounted: EPERM, and clone3 is unknown, as
 *                       under Docker's default seccomp profile
 *   user-namespaces-beyond=N   user.max_user_namespaces is N, in a user namespace of the command's own: ENOSPC
 *   ids-from=N          ids from N on do not exist, as for root in a container with a user namespace; for root
 *   mounts              user namespaces can be made, but nothing can be mounted in them: EPERM
 *   fresh-proc          /proc is masked as in a container, so that no other can be mounted
 *   clone3              a kernel, or a profile, that does not know clone3: ENOSYS
 *   landlock            a kernel without Landlock: ENOSYS
 *   landlock-scope      a kernel with Landlock ABI 5, the last one without scopes
 *   cgroups             /sys/fs/cgroup is empty
 *   writable-cgroups    every cgroup file system is mounted read-only, as in a container
 *   sys-admin           only the capabilities that Docker leaves to root in a container, so no CAP_SYS_ADMIN
 *   filter=FILE         what the seccomp filter in FILE (struct sock_filter[]) refuses
 *   execution=FOLDER    the folder is mounted noexec
 *   mounted=FOLDER      not a lack: an empty file system is mounted there
 *   overlaid=FOLDER     not a lack: the folder is an overlay; said twice, one that nothing can be laid over
 *   sysctl:NAME=VALUE   not a lack: /proc/sys says so, whatever the kernel does
 *   podman:no           not a lack: /run/.containerenv is there
 *
 * It prints nothing unless it cannot do what was requested; then it does not start the command (status 125). The
 * command has this process's pid and ids. No other process can see the changes.
 */
#define _GNU_SOURCE
#include "without.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void give_up(const char *what) {
  fprintf(stderr, "without: %s: %s\n", what, strerror(errno));
  exit(125);
}

void check(long result, const char *what) {
  if (result < 0) give_up(what);
}

struct lack {
  const char *name;
  void (*apply)(void);
  void (*apply_to)(const char *value);
};

/* In the order in which they are applied: those that mount something come before those that refuse mounts. */
static const struct lack lacks[] = {
    {"user-namespaces-beyond=", NULL, refuse_beyond},
    {"ids-from=", NULL, forget_ids_from},
    {"podman:no", look_like_podman, NULL},
    {"execution=", NULL, forbid_execution},
    {"mounted=", NULL, mount_inside},
    {"overlaid=", NULL, lay_over},
    {"cgroups", hide_cgroups, NULL},
    {"writable-cgroups", make_cgroups_read_only, NULL},
    {"sysctl:", NULL, show_sysctl},
    {"fresh-proc", mask_proc, NULL},
    {"user-namespaces", refuse_namespaces, NULL},
    {"mounts", refuse_mounts, NULL},
    {"clone3", refuse_clone3, NULL},
    {"landlock", refuse_landlock, NULL},
    {"landlock-scope", refuse_landlock_scopes, NULL},
    {"filter=", NULL, refuse_what_file_says},
};

static bool is_meant(const struct lack *lack, const char *word) {
  return lack->apply_to != NULL ? strncmp(word, lack->name, strlen(lack->name)) == 0 : strcmp(word, lack->name) == 0;
}

static bool is_known(const char *word) {
  if (strcmp(word, "sys-admin") == 0) return true;
  for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
    if (is_meant(&lacks[i], word)) return true;
  }
  return false;
}

int main(int count, char **words) {
  int end = 1;
  for (; end < count && strcmp(words[end], "--") != 0; end++) {
    errno = EINVAL;
    if (!is_known(words[end])) give_up(words[end]);
  }
  if (end + 1 >= count) {
    fprintf(stderr, "usage: without WHAT... -- COMMAND [ARGUMENT...]\n");
    return 125;
  }
  bool drops = false;
  start_filter();
  for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++) {
    for (int at = 1; at < end; at++) {
      if (strcmp(words[at], "sys-admin") == 0) drops = true;
      if (!is_meant(&lacks[i], words[at])) continue;
      if (lacks[i].apply != NULL) lacks[i].apply();
      else lacks[i].apply_to(words[at] + strlen(lacks[i].name));
    }
  }
  apply_filter();
  if (drops) drop_capabilities();
  execvp(words[end + 1], words + end + 1);
  give_up(words[end + 1]);
}
