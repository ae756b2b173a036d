/*
 * The file service: records of an archive on its standard input, and folders whose names guest code has chosen. An input
 * is `u32 seed, bytes`; the lowest bits of the seed choose the task.
 */
#include "fake-kernel.h"

#include "files/records.h"
#include "files/service.h"
#include "files/walk.h"
#include "frames.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a list as the host does: no path in it may lead out of the folder. */
static void check_list(void) {
  struct reader listed = reader_of(fake_written, fake_written_bytes);
  while (listed.left >= 21) {
    uint8_t kind = *listed.at;
    listed.at += 21;
    listed.left -= 21;
    uint32_t length = 0;
    uint32_t target = 0;
    const uint8_t *name = take_bytes(&listed, &length);
    (void)take_bytes(&listed, &target);
    if (listed.bad || kind == RECORD_END) return; /* the rest did not fit into fake_written, or a write failed */
    if (length == 0 || length > TREE_PATH_BYTES_MAX) found("list: a path that is empty or too long");
    if (name[0] == '/' || memchr(name, 0, length)) found("list: not a relative path");
    if (length >= 3 && memcmp(name, "../", 3) == 0) found("list: a path that leads out");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char folder[] = "a/b";
  static char yes[] = "1";
  static char many[] = "1000";
  static char *const with_three[] = {folder, yes, many, NULL};
  static char *const with_two[] = {folder, yes, NULL};
  static char *const with_many[] = {folder, many, NULL};
  static char *const with_one[] = {folder, NULL};
  static const struct {
    const char *name;
    char *const *arguments;
  } tasks[] = {
      {"list", with_three}, {"delete", with_two}, {"pack", with_many}, {"unpack", with_one},
      {"unpack", with_one}, {"write", with_two},  {"read", with_many}, {"move", with_two},
  };
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  unsigned task = seed % (sizeof tasks / sizeof tasks[0]);
  fake_begin(seed >> 3, (struct bytes){NULL, 0}, input);
  if (setjmp(fake_end) == 0) (void)serve_files(tasks[task].name, tasks[task].arguments);
  if (task == 0) check_list();
  return 0;
}
