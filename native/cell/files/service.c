/*
 * File operations of a sandbox's owner. Each is a fork of pid 1 that is confined like every guest (ids, Landlock,
 * seccomp, mounts) and does one task instead of executing a program. So a path means the same as for the guest, and
 * leads nowhere that the guest could not go. Paths are arguments, relative ones from the workspace; content comes
 * through standard input and leaves through standard output.
 *
 * Guests run at the same time, and may change anything. Nothing here waits for them: files are opened without blocking,
 * and used only if they turn out to be regular files.
 */
#include "files/service.h"
#include "files/archive.h"
#include "files/content.h"
#include "files/dial.h"
#include "files/paths.h"
#include "files/records.h"
#include "files/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_OF_A_TASK_MAX = 4 };

static bool make_folder(char *const arguments[]) {
  const char *path = arguments[0];
  bool parents_too = arguments[1][0] == '1';
  struct stat facts;
  if (!parents_too) return mkdir(path, 0777) == 0 || refuse("make", path);
  if (!make_folders(path, true) || stat(path, &facts) < 0) return refuse("make", path);
  errno = EEXIST;
  return S_ISDIR(facts.st_mode) || refuse("make", path);
}

static bool tell_facts(char *const arguments[]) {
  const char *path = arguments[0];
  char target[TARGET_BYTES_MAX] = "";
  struct stat facts;
  bool follows = arguments[1][0] == '1';
  if (fstatat(AT_FDCWD, path, &facts, follows ? 0 : AT_SYMLINK_NOFOLLOW) < 0) return refuse("look", path);
  if (S_ISLNK(facts.st_mode) && readlink(path, target, sizeof target - 1) < 0) return refuse("look", path);
  return emit_record(kind_of(facts.st_mode), &facts, "", target);
}

static const struct {
  const char *name;
  int arguments;
  bool (*task)(char *const arguments[]);
} tasks[] = {
    {"stat", 2, tell_facts},       /* path, whether the last link is followed */
    {"mkdir", 2, make_folder},     /* path, whether its parents are made */
    {"read", 2, read_content},     /* path, most bytes */
    {"write", 2, write_content},   /* path, whether its parents are made */
    {"rename", 2, rename_path},    /* from, to */
    {"move", 2, move_path},        /* from, to */
    {"list", 3, list_folder},      /* path, whether deep, most entries */
    {"delete", 2, delete_path},    /* path, whether folders too */
    {"pack", 2, pack_folder},      /* path, most entries */
    {"unpack", 1, unpack_folder},  /* path */
    {"dial", 1, dial_port},        /* port of the loopback */
};

/* Returns the exit code: 2 for an unknown task. */
int serve_files(const char *task, char *const arguments[]) {
  static char buffer[PIECE_BYTES];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  /* A file that would grow too large must be an error that is reported, not the end of the process. */
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return 2;
  int count = 0;
  while (count <= ARGUMENTS_OF_A_TASK_MAX && arguments[count]) count++;
  for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
    if (strcmp(task, tasks[i].name) != 0) continue;
    if (count != tasks[i].arguments) return 2;
    bool worked = tasks[i].task(arguments);
    return fflush(stdout) == 0 && worked ? 0 : 1;
  }
  return 2;
}
