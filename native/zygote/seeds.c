/*
 * Finds the stream in the engine's data by its shape, because it has no symbol: the state of the cipher RC4, in which
 * each byte from 0 to 255 occurs once, followed by the number of bytes that are left. Callers first verify that the
 * number changes as expected.
 */
#include "seeds.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { STATE_BYTES = 256, COUNT_MAX = 1600000 };

struct found {
  int *left;
  int candidates;
};

static bool is_state(const uint8_t *bytes) {
  bool seen[STATE_BYTES] = {false};
  for (int i = 0; i < STATE_BYTES; i++) {
    if (seen[bytes[i]]) return false;
    seen[bytes[i]] = true;
  }
  return true;
}

static void search(uint8_t *from, size_t bytes, struct found *found) {
  for (size_t at = 0; at + STATE_BYTES + 2 * sizeof(int) <= bytes; at++) {
    if (!is_state(from + at)) continue;
    uintptr_t behind = (uintptr_t)(from + at + STATE_BYTES);
    int *left = (int *)((behind + sizeof(int) - 1) & ~(sizeof(int) - 1));
    /* A window that is shifted by one byte also has each value once, if the byte that it gains equals the one it loses. */
    if (*left < 0 || *left > COUNT_MAX || left == found->left) continue;
    found->left = left;
    found->candidates++;
  }
}

/* The program itself comes first; libraries are not searched. */
static int search_program(struct dl_phdr_info *program, size_t size, void *result) {
  (void)size;
  for (int i = 0; i < program->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &program->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_W)) continue;
    search((uint8_t *)(program->dlpi_addr + part->p_vaddr), part->p_memsz, result);
  }
  return 1;
}

static int *find_left(void) {
  static struct found found;
  if (found.candidates == 0) dl_iterate_phdr(search_program, &found);
  return found.candidates == 1 ? found.left : NULL;
}

int seed_bytes_left(void) {
  const int *left = find_left();
  return left ? *left : -1;
}

void use_up_seeds(void) {
  int *left = find_left();
  if (left) *left = 0;
}
