/*
 * Facts: what the kernel reports about this cell, observed from inside once it is built. One `name=value` per line.
 */
#include "facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct text {
  char *at;
  size_t left;
};

static void add(struct text *text, const char *part, size_t length) {
  if (length > text->left) length = text->left;
  memcpy(text->at, part, length);
  text->at += length;
  text->left -= length;
}

/* The file's lines, joined with commas. */
static void add_file(struct text *text, const char *name, const char *path) {
  char content[1024];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? 0 : read(fd, content, sizeof content);
  if (fd >= 0) close(fd);
  if (count < 0) count = 0;
  while (count > 0 && content[count - 1] == '\n') count--;
  for (ssize_t i = 0; i < count; i++) {
    if (content[i] == '\n') content[i] = ',';
  }
  add(text, name, strlen(name));
  add(text, "=", 1);
  add(text, content, (size_t)count);
  add(text, "\n", 1);
}

static void add_link(struct text *text, const char *name) {
  char path[64];
  char target[64];
  snprintf(path, sizeof path, "/proc/self/ns/%s", name);
  ssize_t count = readlink(path, target, sizeof target);
  add(text, "ns_", 3);
  add(text, name, strlen(name));
  add(text, "=", 1);
  add(text, target, count < 0 ? 0 : (size_t)count);
  add(text, "\n", 1);
}

size_t collect_facts(char *buffer, size_t size) {
  static const char *const namespaces[] = {"user", "pid", "mnt", "net", "ipc", "uts", "cgroup"};
  struct text text = {buffer, size};
  add_file(&text, "uid_map", "/proc/self/uid_map");
  add_file(&text, "gid_map", "/proc/self/gid_map");
  add_file(&text, "cgroup", "/proc/self/cgroup");
  for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) add_link(&text, namespaces[i]);
  char landlock[64];
  enum { ASK_FOR_VERSION = 1 };
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_FOR_VERSION);
  int length = snprintf(landlock, sizeof landlock, "landlock_abi=%ld\n", abi < 0 ? 0 : abi);
  add(&text, landlock, (size_t)length);
  return size - text.left;
}
