/*
 * Runs a target on the given files, for machines without a fuzzer. It runs in a child: after a crash the input is named,
 * and another child continues with the rest. Exits with 1 if any input crashed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INPUT_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_one(const char *path) {
  FILE *file = fopen(path, "re");
  uint8_t *input = malloc(INPUT_BYTES_MAX);
  if (!file || !input) return 2;
  size_t size = fread(input, 1, INPUT_BYTES_MAX, file);
  fclose(file);
  /* As long as the input, so that a sanitizer sees every byte past its end. */
  uint8_t *exact = realloc(input, size == 0 ? 1 : size);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
  return 0;
}

/* Runs the files from `*at` on, and advances `*at`. */
static int run_rest(char **paths, int count, volatile int *at) {
  for (; *at < count; (*at)++) {
    if (run_one(paths[*at]) != 0) return 2;
  }
  return 0;
}

int main(int count, char **paths) {
  volatile int *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 2;
  int crashed = 0;
  for (*at = 1; *at < count; (*at)++) {
    int status = 0;
    pid_t pid = fork();
    if (pid < 0) return 2;
    if (pid == 0) exit(run_rest(paths, count, at));
    waitpid(pid, &status, 0);
    if (status == 0) break;
    crashed++;
    fprintf(stderr, "%s: status %d\n", paths[*at], status);
  }
  printf("%d inputs, %d crashed\n", count - 1, crashed);
  return crashed > 0;
}
