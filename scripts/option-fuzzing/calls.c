/*
 * The guest of the option fuzzer: reads a list of system calls and makes them repeatedly, from several
 * processes and threads. It decides nothing: the list says which calls, and how often, so that a list that
 * found something finds it again. program.ts writes the format.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { data_max = 64, data_bytes = 4096, calls_max = 64, words_max = 6, processes_max = 16, threads_max = 4 };
enum { arena_bytes = 2 << 20, hold_us = 80000, tick_us = 5000, report_fd = 99, add_number = 65534, again_number = 65533 };

struct word {
  char kind; /* i: a number, r: the result of a call, d: a data's address, w: a number in data, m: in the arena */
  long value;
  unsigned at;
};

struct call {
  long number;
  int makes_process;
  struct word words[words_max];
};

struct process {
  struct call calls[calls_max];
  unsigned count;
  unsigned first; /* Where rounds after the first begin. */
  unsigned threads;
  unsigned long repeats;
  long wall_ms;
};

struct counts {
  unsigned long passed, failed;
};

static unsigned char data[data_max][data_bytes] __attribute__((aligned(16)));
static unsigned data_count;
static struct process processes[processes_max];
static unsigned process_count;
static struct process *own;
static unsigned own_index;
static struct counts counts[threads_max][calls_max];
static unsigned char *arena;

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void complain(const char *what) {
  fprintf(stderr, "calls: %s\n", what);
  exit(2);
}

/* Hexadecimal digits, then offsets for the addresses of other data: `+8=3`. */
static void read_data(char *line) {
  if (data_count == data_max) complain("too many data");
  unsigned char *into = data[data_count++];
  char *rest = NULL;
  for (char *part = strtok_r(line, " \n", &rest); part; part = strtok_r(NULL, " \n", &rest)) {
    if (part[0] == '+') {
      char *end;
      unsigned long at = strtoul(part + 1, &end, 10), other = strtoul(end + 1, NULL, 10);
      if (at > data_bytes - 8 || other >= data_max) complain("an address that does not fit");
      unsigned char *address = data[other];
      memcpy(into + at, &address, sizeof address);
      continue;
    }
    for (size_t i = 0; part[i] && part[i + 1] && i / 2 < data_bytes; i += 2) {
      char digits[3] = {part[i], part[i + 1], 0};
      into[i / 2] = (unsigned char)strtoul(digits, NULL, 16);
    }
  }
}

static struct word read_word(const char *text) {
  struct word word = {'i', 0, 0};
  char *end;
  if (strchr("rdwm", text[0])) word.kind = *text++;
  word.value = (long)strtoull(text, &end, 0);
  if (*end == ':') word.at = (unsigned)strtoul(end + 1, NULL, 10);
  if (word.kind == 'r' && (unsigned long)word.value >= calls_max) complain("a result that no call returns");
  if (strchr("dw", word.kind) && (unsigned long)word.value >= data_max) complain("data that does not exist");
  if (word.at > data_bytes / 4 - 1) complain("a number beyond the data");
  return word;
}

static void read_call(char *line) {
  if (process_count == 0) complain("a call without a process");
  struct process *into = &processes[process_count - 1];
  if (into->count == calls_max) complain("too many calls");
  struct call *call = &into->calls[into->count++];
  char *rest = NULL, *part = strtok_r(line, " \n", &rest);
  call->number = part ? strtol(part, NULL, 10) : -1;
  if (call->number == again_number) into->first = into->count;
  call->makes_process = call->number == SYS_clone;
  for (unsigned i = 0; i < words_max && (part = strtok_r(NULL, " \n", &rest)); i++) call->words[i] = read_word(part);
}

static void read_program(void) {
  static char line[3 * data_bytes];
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] == 'D') read_data(line + 1);
    else if (line[0] == 'C') read_call(line + 1);
    else if (line[0] == 'P') {
      if (process_count == processes_max) complain("too many processes");
      struct process *made = &processes[process_count++];
      if (sscanf(line + 1, "%lu %ld %u", &made->repeats, &made->wall_ms, &made->threads) != 3) complain("P");
      if (made->threads < 1 || made->threads > threads_max) complain("threads");
    }
  }
}

static long resolve(const struct word *word, const long *results) {
  int32_t number;
  switch (word->kind) {
    case 'r': return results[word->value];
    case 'd': return (long)data[word->value];
    case 'w': memcpy(&number, data[word->value] + 4 * word->at, sizeof number); return number;
    case 'm': return (long)(arena + word->value);
    default: return word->value;
  }
}

/* Not a system call: adds to the number at an offset of the data, so that rounds can differ. */
static long add_to_data(const long *words) {
  int64_t number;
  unsigned char *place = (unsigned char *)words[0] + words[1];
  memcpy(&number, place, sizeof number);
  number += words[2];
  memcpy(place, &number, sizeof number);
  return 0;
}

static long make_call(const struct call *call, long *words) {
  if (call->number == again_number) return 0;
  if (call->number == add_number) return add_to_data(words);
  /* A child that shares memory would run on the same stack. */
  if (call->makes_process) words[0] &= ~0x4100L, words[1] = 0;
  long answer = syscall(call->number, words[0], words[1], words[2], words[3], words[4], words[5]);
  if (call->makes_process && answer == 0) _exit(0);
  return answer;
}

static void *make_calls(void *thread) {
  long results[calls_max];
  const long end_ms = now_ms() + own->wall_ms;
  memset(results, 0xff, sizeof results);
  for (unsigned long round = 0; round < own->repeats && now_ms() < end_ms; round++)
    for (unsigned i = round == 0 ? 0 : own->first; i < own->count; i++) {
      struct call *call = &own->calls[i];
      long words[words_max];
      for (unsigned at = 0; at < words_max; at++) words[at] = resolve(&call->words[at], results);
      long answer = make_call(call, words);
      results[i] = answer;
      struct counts *into = &counts[(uintptr_t)thread][i];
      if (answer < 0) into->failed++;
      else into->passed++;
    }
  return NULL;
}

static void report(void) {
  static char text[calls_max * 80];
  size_t length = 0;
  for (unsigned i = 0; i < own->count; i++) {
    struct counts sum = {0, 0};
    for (unsigned thread = 0; thread < threads_max; thread++) {
      sum.passed += counts[thread][i].passed;
      sum.failed += counts[thread][i].failed;
    }
    length += (size_t)snprintf(text + length, sizeof text - length, "%u %u %lu %lu\n", own_index, i, sum.passed, sum.failed);
  }
  if (write(report_fd, text, length) < 0) _exit(3);
}

/* The next tick wakes a blocked call; other signals are ignored. */
static void woken(int signal) { (void)signal; }

static void prepare_signals(void) {
  struct sigaction wake = {.sa_handler = woken};
  const int deadly[] = {SIGILL, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGTERM, SIGABRT, SIGXCPU};
  for (int signal = 1; signal < 65; signal++) sigaction(signal, &wake, NULL);
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(deadly[i], &usual, NULL);
  }
  struct sigaction reaped = {.sa_handler = SIG_IGN};
  sigaction(SIGCHLD, &reaped, NULL);
  const struct itimerval ticks = {{0, tick_us}, {0, tick_us}};
  setitimer(ITIMER_REAL, &ticks, NULL);
}

static void run_process(void) {
  prepare_signals();
  arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t thread;
  for (uintptr_t i = 1; i < own->threads; i++) pthread_create(&thread, NULL, make_calls, (void *)i);
  make_calls(NULL);
  report();
  /* Keeps its resources until the host has taken its readings. */
  for (const long end_ms = now_ms() + hold_us / 1000; now_ms() < end_ms;) usleep(hold_us / 8);
  _exit(0);
}

int main(void) {
  read_program();
  if (dup2(1, report_fd) < 0) complain("no place for the report");
  for (own_index = 0; own_index < process_count; own_index++) {
    own = &processes[own_index];
    if (fork() == 0) run_process();
  }
  while (wait(NULL) > 0 || errno == EINTR) continue;
  return 0;
}
