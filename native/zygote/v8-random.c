/*
 * Finds V8's random number generators in memory by their properties, because the engine exports no names for them. A seed
 * generator is its first seed, followed by a state of 128 bits that follows from that seed in a few steps; no other memory
 * has that property by chance. The state of a realm is the one from which its last numbers were made. The caller checks
 * whether new realms change what was found.
 */
#include "v8-random.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
  GENERATORS_MAX = 16,
  /* The engine draws about a hundred times when it starts, and the harness as often for its keys. */
  STEPS_MAX = 2000,
  MAPPINGS_MAX = 2048,
  /* Larger mappings are V8's reservations for compiled code, which are mostly empty. */
  MAPPING_BYTES_MAX = 64 * 1024 * 1024,
  PAGE_BYTES = 4096,
  COPIED_BYTES = 16 * PAGE_BYTES, /* the usual capacity of a pipe */
};

struct state {
  uint64_t a, b;
};

struct generator {
  uint64_t first_seed;
  struct state state;
};

static struct {
  struct generator *place;
  struct state seen;
} generators[GENERATORS_MAX];
static int generator_count;

static uint64_t mix(uint64_t h) { /* MurmurHash3 */
  h ^= h >> 33;
  h *= UINT64_C(0xFF51AFD7ED558CCD);
  h ^= h >> 33;
  h *= UINT64_C(0xC4CEB9FE1A85EC53);
  return h ^ (h >> 33);
}

static struct state step(struct state before) { /* xorshift128+ */
  uint64_t b = before.a ^ (before.a << 23);
  b ^= b >> 17;
  b ^= before.b ^ (before.b >> 26);
  return (struct state){before.b, b};
}

static bool are_same(struct state one, struct state other) { return one.a == other.a && one.b == other.b; }

/* Most words of a heap are addresses, lengths and counts, which fail this test. One in 20,000 real triples fails too. */
static bool is_random(uint64_t word) { return word >> 48 != 0; }

static bool is_generator(const struct generator *place) {
  if (!is_random(place->first_seed) || !is_random(place->state.a) || !is_random(place->state.b)) return false;
  uint64_t first = mix(place->first_seed);
  struct state state = {first, mix(~first)};
  for (int steps = 0; steps <= STEPS_MAX; steps++, state = step(state)) {
    if (are_same(state, place->state)) return true;
  }
  return false;
}

/* ---- memory ---- */

struct mapping {
  uintptr_t from, until;
  bool is_heap;
};
static struct mapping mappings[MAPPINGS_MAX];

/* This process's own writable memory that is not a file, including the malloc heap. How many, or -1. */
static int list_mappings(void) {
  FILE *file = fopen("/proc/self/maps", "re");
  if (!file) return -1;
  static char line[4096];
  int count = 0;
  while (count >= 0 && fgets(line, sizeof line, file)) {
    struct mapping one;
    char mode[5];
    uint64_t inode;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %" SCNu64, &one.from, &one.until, mode, &inode) != 4) continue;
    one.is_heap = strstr(line, "[heap]") != NULL;
    bool is_own = strncmp(mode, "rw", 2) == 0 && mode[3] == 'p' && inode == 0 && (one.is_heap || !strchr(line, '['));
    if (!is_own || one.until - one.from > MAPPING_BYTES_MAX) continue;
    if (count < MAPPINGS_MAX) mappings[count++] = one;
    else count = -1;
  }
  fclose(file);
  return count;
}

/*
 * Other threads unmap memory at any time. So it is copied through a pipe: the kernel reports a page that is gone, where a
 * load would crash.
 */
struct copier {
  int from_pipe, into_pipe;
  _Alignas(16) uint8_t copied[COPIED_BYTES];
};

static bool open_copier(struct copier *copier) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return false;
  copier->from_pipe = ends[0];
  copier->into_pipe = ends[1];
  return true;
}

static void close_copier(const struct copier *copier) {
  close(copier->from_pipe);
  close(copier->into_pipe);
}

/* How many bytes could be copied. */
static size_t copy_from(struct copier *copier, uintptr_t from, size_t bytes) {
  ssize_t count = write(copier->into_pipe, (const void *)from, bytes);
  return count <= 0 || read(copier->from_pipe, copier->copied, (size_t)count) != count ? 0 : (size_t)count;
}

static void clear_state(struct copier *copier, struct state *place) {
  struct state zeros = {0, 0};
  if (write(copier->into_pipe, &zeros, sizeof zeros) != sizeof zeros) return;
  if (read(copier->from_pipe, place, sizeof zeros) != sizeof zeros) (void)!read(copier->from_pipe, &zeros, sizeof zeros);
}

/* Whether everything was looked at. `look` gets each aligned place with a copy of its `size` bytes, until it returns false. */
static bool look_at(struct copier *copier, struct mapping where, size_t size, bool (*look)(uintptr_t place, const void *copy)) {
  for (uintptr_t at = where.from; at + size <= where.until;) {
    size_t left = where.until - at;
    size_t count = copy_from(copier, at, left < COPIED_BYTES ? left : COPIED_BYTES);
    size_t offset = 0;
    for (; offset + size <= count; offset += sizeof(uint64_t)) {
      if (!look(at + offset, copier->copied + offset)) return false;
    }
    at = offset > 0 ? at + offset : (at | (PAGE_BYTES - 1)) + 1;
  }
  return true;
}

static bool note_generator(uintptr_t place, const void *copy) {
  if (!is_generator(copy)) return true;
  if (generator_count == GENERATORS_MAX) return false;
  generators[generator_count].place = (struct generator *)place;
  generators[generator_count++].seen = ((const struct generator *)copy)->state;
  return true;
}

int find_generators(void) {
  static struct copier copier;
  if (!open_copier(&copier)) return -1;
  int count = list_mappings();
  bool fits = true;
  generator_count = 0;
  for (int i = 0; i < count && fits; i++) {
    if (mappings[i].is_heap) fits = look_at(&copier, mappings[i], sizeof(struct generator), note_generator);
  }
  close_copier(&copier);
  return fits ? generator_count : -1;
}

bool generators_have_drawn(void) {
  bool have = false;
  for (int i = 0; i < generator_count; i++) {
    struct state now = generators[i].place->state;
    have = have || !are_same(now, generators[i].seen);
    generators[i].seen = now;
  }
  return have;
}

bool renew_generators(void) {
  for (int i = 0; i < generator_count; i++) {
    struct state *state = &generators[i].place->state;
    if (getrandom(state, sizeof *state, 0) != sizeof *state) return false;
    state->a |= 1; /* all zeros would stay all zeros */
  }
  return generator_count > 0;
}

/* ---- a realm ---- */

static double to_number(uint64_t a) { return (double)(a >> 11) / (double)(UINT64_C(1) << 53); }

enum { SLOTS = 256 };

/* Maps the lowest significant bits of a state to the index of its number, or -1. */
static int8_t slots[SLOTS];

static size_t slot_of(double number) { return (uint64_t)(number * (double)(UINT64_C(1) << 53)) % SLOTS; }

static const double *drawn;
static struct copier states;
static int found;

static bool forget_number(uintptr_t place, const void *copy) {
  uint64_t a = ((const struct state *)copy)->a;
  if (a == 0 || slots[(a >> 11) % SLOTS] < 0) return true;
  for (int i = 0; i < NUMBERS_READY; i++) {
    if (to_number(a) != drawn[i]) continue;
    clear_state(&states, (struct state *)place);
    found = i;
  }
  /* A garbage collection that moves the state may leave an unused copy behind, so the search continues. */
  return true;
}

int forget_seed(const double last[NUMBERS_READY]) {
  if (!open_copier(&states)) return -1;
  memset(slots, -1, sizeof slots);
  for (int i = 0; i < NUMBERS_READY; i++) slots[slot_of(last[i])] = (int8_t)i;
  drawn = last;
  found = -1;
  int count = list_mappings();
  for (int i = 0; i < count; i++) look_at(&states, mappings[i], sizeof(struct state), forget_number);
  close_copier(&states);
  return found;
}
