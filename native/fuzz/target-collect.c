/*
 * The collector: requests on its standard input, and folders whose names guest code has chosen. An input is
 * `u32 seed, bytes`; the lowest bit of the seed says whether they are requests or names.
 */
#include "fake-kernel.h"

#include "files/collect.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads a list as the host does: no path in it may lead out of the folder. */
static void check_list(void) {
  struct reader listed = reader_of(fake_written, fake_written_bytes);
  while (listed.left > 0) {
    uint32_t length = 0;
    (void)take_u64(&listed);
    (void)take_u32(&listed);
    const uint8_t *name = take_bytes(&listed, &length);
    if (listed.bad) return; /* the rest did not fit into fake_written, or a write failed */
    if (length >= PATH_BYTES_MAX) found("list: a path that is too long to open");
    if (length >= 3 && memcmp(name, "../", 3) == 0) found("list: a path that leads out");
    if (length > 0 && (name[0] == '/' || memchr(name, 0, length))) found("list: not a relative path");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char everything[] = ".";
  static char folder[] = "a/b";
  static char *const starts[] = {everything, folder, NULL};
  struct bytes input = {data, size};
  uint32_t seed = take_seed(&input);
  depth = 0;
  entries = 0;
  fake_begin(seed >> 1, (struct bytes){NULL, 0}, input);
  if (setjmp(fake_end) == 0) (void)collect_files(seed & 1 ? "read" : "list", starts);
  if (!(seed & 1)) check_list();
  return 0;
}
