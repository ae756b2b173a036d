/*
 * File operations of a sandbox's owner. Each is a fork of pid 1 that is confined as every guest is (ids, Landlock,
 * seccomp, mounts) and does one task instead of executing a program, so a path means what it means to the guest, and
 * nothing is reached that the guest could not reach itself. Paths are arguments, relative ones from the workspace;
 * content comes through standard input and leaves through standard output.
 *
 * Guests run meanwhile, and change what they like. Nothing here waits for one: what is opened is opened without
 * blocking, and used only when it then is a regular file.
 */
#include "file_service.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ARGUMENTS_OF_A_TASK_MAX = 4 };

bool refuse(const char *step, const char *path) {
  char number[16];
  int length = snprintf(number, sizeof number, "%d ", errno);
  (void)(write_exactly(STDERR_FILENO, number, (size_t)length) && write_exactly(STDERR_FILENO, step, strlen(step)) &&
         write_exactly(STDERR_FILENO, " ", 1) && write_exactly(STDERR_FILENO, path, strlen(path)));
  return false;
}

/* ---- records ---- */

bool emit(const void *bytes, size_t length) { return fwrite(bytes, 1, length, stdout) == length; }

bool emit_word(uint32_t word) {
  uint8_t bytes[4];
  put_u32(bytes, word);
  return emit(bytes, sizeof bytes);
}

static bool emit_text(const char *text) { return emit_word((uint32_t)strlen(text)) && emit(text, strlen(text)); }

/* Guests may set times that have no milliseconds in 64 bits. */
static int64_t milliseconds(struct timespec time) {
  const int64_t most = INT64_MAX / 1000 - 1;
  int64_t seconds = time.tv_sec > most ? most : time.tv_sec;
  if (seconds < -most) seconds = -most;
  return seconds * 1000 + time.tv_nsec / 1000000;
}

bool emit_record(enum record_kind kind, const struct stat *facts, const char *path, const char *target) {
  uint8_t head[21] = {(uint8_t)kind};
  put_u32(head + 1, facts->st_mode & 07777);
  put_u64(head + 5, (uint64_t)milliseconds(facts->st_mtim));
  put_u64(head + 13, (uint64_t)facts->st_size);
  return emit(head, sizeof head) && emit_text(path) && emit_text(target);
}

bool emit_end(bool complete) {
  struct stat facts = {.st_mode = complete ? 0 : 1};
  return emit_record(RECORD_END, &facts, "", "");
}

enum record_kind kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return RECORD_FILE;
    case S_IFDIR:
      return RECORD_FOLDER;
    case S_IFLNK:
      return RECORD_LINK;
    case S_IFIFO:
      return RECORD_FIFO;
    case S_IFSOCK:
      return RECORD_SOCKET;
    case S_IFCHR:
      return RECORD_CHARACTER_DEVICE;
    default:
      return RECORD_BLOCK_DEVICE;
  }
}

/* ---- opening ---- */

/* With O_PATH the kernel takes no flag of those that only matter to an open file. */
int open_inside(int folder, const char *name, uint64_t flags) {
  struct open_how how = {
      .flags = flags | O_NOFOLLOW | O_CLOEXEC,
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
  };
  return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

int open_regular(int folder, const char *name, int flags, struct stat *facts) {
  int fd = openat(folder, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  bool known = fstat(fd, facts) == 0;
  if (known && S_ISREG(facts->st_mode)) return fd;
  int error = known && S_ISDIR(facts->st_mode) ? EISDIR : EINVAL;
  close(fd);
  errno = error;
  return -1;
}

/* The folders of a path, like `mkdir -p`: what is there already is fine. */
bool make_folders(const char *path, bool last_too) {
  char part[TARGET_BYTES_MAX];
  size_t length = strlen(path);
  errno = ENAMETOOLONG;
  if (length >= sizeof part) return false;
  for (size_t end = 1; end <= length; end++) {
    bool last = end == length;
    if ((last && !last_too) || (!last && path[end] != '/')) continue;
    memcpy(part, path, end);
    part[end] = 0;
    if (mkdir(part, 0777) == 0 || errno == EEXIST) continue;
    return false;
  }
  return true;
}

/* ---- the small tasks ---- */

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
};

/* Returns the exit code: 2 for a task that there is not. */
int serve_files(const char *task, char *const arguments[]) {
  static char buffer[PIECE_BYTES];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  /* A file that would grow too large is an error to be told, not an end. */
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
