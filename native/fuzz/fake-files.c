/*
 * The fake kernel's files: the contents of folders come from the input; what is written is checked and discarded.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "fake-calls.h"
#include "fake-state.h"

enum { FOLDERS = 260, KEPT_MAX = 8 };

uint8_t fake_written[1 << 16];
size_t fake_written_bytes;

static bool is_broken; /* stdout: a write failed, and so does every later one */
static unsigned folders_open;
static void *kept[KEPT_MAX];
static size_t kept_count;

void fake_begin_files(void) {
  is_broken = false;
  folders_open = 0;
  fake_written_bytes = 0;
  while (kept_count > 0) free(kept[--kept_count]);
}

int fake_stat(struct stat *facts) {
  static const mode_t kinds[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO};
  if (fake_succeed() < 0) return -1;
  *facts = (struct stat){.st_mode = kinds[fake_number(4)] | 0644, .st_size = (off_t)fake_number(100000)};
  return 0;
}

int fake_statfs(struct statfs *facts) {
  if (fake_succeed() < 0) return -1;
  *facts = (struct statfs){.f_type = fake_number(2) ? 0x01021994 : 0, .f_bsize = 4096, .f_blocks = fake_number(100000)};
  facts->f_bfree = facts->f_bavail = fake_number((uint32_t)facts->f_blocks + 1);
  return 0;
}

ssize_t fake_readlink(char *target, size_t size) {
  if (fake_succeed() < 0) return -1;
  memset(target, 'n', size);
  return (ssize_t)size;
}

DIR *fake_opendir(void) {
  static char streams[FOLDERS];
  if (fake_succeed() < 0) return NULL;
  if (folders_open >= FOLDERS) found("opendir: too many open folders");
  return (DIR *)(void *)&streams[folders_open++];
}

/* The input has one name after another, each behind its length; a length of zero ends the folder. */
struct dirent *fake_readdir(DIR *stream) {
  static struct dirent entry;
  struct bytes *text = fake_text();
  (void)stream;
  fake_count_call();
  errno = 0;
  if (text->left == 0) return NULL;
  size_t length = text->at[0];
  text->at++;
  text->left--;
  if (length > text->left) length = text->left;
  if (length == 0 || text->at[0] == 0) return NULL;
  memcpy(entry.d_name, text->at, length);
  entry.d_name[length] = 0;
  text->at += length;
  text->left -= length;
  for (size_t i = 0; i < length; i++) {
    if (entry.d_name[i] == '/') entry.d_name[i] = '_';
  }
  return &entry;
}

int fake_closedir(DIR *stream) {
  (void)stream;
  if (folders_open == 0) found("closedir: no folder is open");
  folders_open--;
  return 0;
}

size_t fake_fwrite(const void *bytes, size_t size, size_t count) {
  is_broken = is_broken || fake_succeed() < 0;
  if (is_broken) return 0;
  size_t length = size * count;
  size_t room = sizeof fake_written - fake_written_bytes;
  if (length > 4096 + (64 << 10)) found("fwrite: a piece larger than the format allows");
  memcpy(fake_written + fake_written_bytes, bytes, length < room ? length : room);
  fake_written_bytes += length < room ? length : room;
  return count;
}

void *fake_malloc(size_t size) {
  if (size > 4 << 20) found("malloc: more than the largest plan");
  if (fake_succeed() < 0 || kept_count == KEPT_MAX) return NULL;
  return kept[kept_count++] = malloc(size);
}

/* Inside folders that guests can write to, no path may lead out of them. Paths of the host are only looked up. */
long fake_openat2(const char *name, const struct open_how *how) {
  uint64_t no_links = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  uint64_t all = no_links | RESOLVE_BENEATH | RESOLVE_NO_XDEV;
  bool looks_up = how->resolve == no_links && (how->flags | O_DIRECTORY) == (O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool stays_inside = how->resolve == all && (how->flags & O_NOFOLLOW) != 0;
  uint64_t in_view = RESOLVE_IN_ROOT | RESOLVE_NO_XDEV | no_links;
  bool shows_part = how->resolve == in_view && how->flags == (O_PATH | O_CLOEXEC);
  bool writes = (how->flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (writes || !(looks_up || stays_inside || shows_part)) found("openat2: could leave the folder, or write");
  return strlen(name) >= 4096 ? -1 : fake_open();
}

/* Descriptors are created only with close-on-exec. */
int fake_fcntl(int fd, int command, ...) {
  (void)fd;
  if (command == F_DUPFD) found("fcntl: would be inherited");
  return command == F_DUPFD_CLOEXEC ? fake_open() : fake_succeed();
}

/* A file of /proc, at any offset. */
long fake_pread(va_list arguments) {
  (void)va_arg(arguments, int);
  void *buffer = va_arg(arguments, void *);
  size_t length = va_arg(arguments, size_t);
  struct bytes *text = fake_text();
  if (fake_succeed() < 0) return -1;
  size_t count = length < text->left ? length : text->left;
  if (count > 0) memcpy(buffer, text->at, count);
  text->at += count;
  text->left -= count;
  return (long)count;
}

long fake_getrandom(va_list arguments) {
  void *buffer = va_arg(arguments, void *);
  size_t length = va_arg(arguments, size_t);
  if (fake_succeed() < 0) return -1;
  memset(buffer, (int)fake_number(256), length);
  return (long)length;
}

int fake_ioctl(unsigned long request, void *argument) {
  if (fake_succeed() < 0) return -1;
  if (request == FIONREAD) *(int *)argument = (int)fake_number(70000);
  return 0;
}

/* Lists of numbers, such as the children of a process: each is one byte of the input, and a zero ends the list. */
FILE *fake_fopen(const char *path) {
  static char file;
  return fake_open_path(path, O_CLOEXEC) < 0 ? NULL : (FILE *)(void *)&file;
}

int fake_fscanf(FILE *file, long *number) {
  struct bytes *text = fake_text();
  (void)file;
  fake_count_call();
  if (text->left == 0) return EOF;
  *number = *text->at++;
  text->left--;
  return *number == 0 ? 0 : 1;
}

int fake_fclose(FILE *file) {
  (void)file;
  return 0;
}

/* A greeting, or what the kernel answers about sockets: as many words as its first byte says. */
ssize_t fake_recv(void *buffer, size_t length) {
  if (fake_succeed() < 0) return -1;
  struct bytes *text = fake_text();
  enum { GREETING_BYTES_MAX = 64 };
  if (length > 0 && length < GREETING_BYTES_MAX && fake_chance(4)) length = 1 + fake_number((uint32_t)length);
  size_t count = length < GREETING_BYTES_MAX ? length : text->left < 1 ? 0 : text->at[0] * (size_t)4;
  if (count > text->left) count = text->left;
  if (count > length) count = length;
  if (count > 0) memcpy(buffer, text->at, count);
  text->at += count;
  text->left -= count;
  return (ssize_t)count;
}

/* Reads every byte, as the kernel would, so that a sanitizer sees it. */
ssize_t fake_sendmsg(const struct msghdr *envelope) {
  uint32_t sum = 0;
  for (size_t i = 0; i < envelope->msg_iov->iov_len; i++) sum += ((const uint8_t *)envelope->msg_iov->iov_base)[i];
  for (size_t i = 0; i < envelope->msg_controllen; i++) sum += ((const uint8_t *)envelope->msg_control)[i];
  volatile uint32_t read_all = sum;
  (void)read_all;
  return fake_succeed() < 0 ? -1 : (ssize_t)envelope->msg_iov->iov_len;
}

/* A size, or who connected: mostly the host, whose uid is ours. */
int fake_getsockopt(void *value, const socklen_t *length) {
  if (fake_succeed() < 0) return -1;
  if (*length == sizeof(struct ucred)) {
    *(struct ucred *)value = (struct ucred){.pid = fake_getppid() + (fake_chance(4) ? 1 : 0), .uid = fake_getuid()};
  } else {
    *(int *)value = (int)fake_number(1 << 20);
  }
  return 0;
}
