/*
 * Parks threads that sleep in a system call, and recreates them in a fork. A signal handler on the thread's own stack
 * saves the thread's state in the kernel, and waits. In a fork, clone(2) with the same thread pointer and tid address
 * continues in that handler, which returns to the system call as after any signal. Only for x86-64 with glibc: the
 * handler inspects the interrupted instruction, and rseq is where glibc keeps it.
 */
#include "threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  THREADS_MAX = 32,
  /* glibc's own, with which it changes ids in all threads: glibc lets no thread block it. */
  PARK_SIGNAL = 33,
  NAME_BYTES = 16,          /* of the kernel */
  STACK_BYTES = 8192,       /* from clone(2) to the jump to the thread's own */
  RSEQ_BYTES = 32,
  RSEQ_SIGNATURE = 0x53053053,
  ATTEMPTS_MAX = 2000,
  PAUSE_NS = 2 * 1000 * 1000,
};

enum state { RUNNING, PARKED };

struct thread {
  pid_t tid;
  int state; /* a futex */
  bool is_alive; /* in this fork */
  bool was_waiting;
  void *here[5]; /* of __builtin_setjmp: glibc's longjmp refuses to go to another stack */
  void *thread_pointer;
  void *robust_list;
  size_t robust_bytes;
  int *tid_address;
  stack_t signal_stack;
  char name[NAME_BYTES];
  _Alignas(16) uint8_t stack[STACK_BYTES];
};

/* The kernel's own struct, because glibc's sigaction refuses this signal. */
struct kernel_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};
enum { SA_RESTORER_FLAG = 0x04000000 };

#ifdef __x86_64__

static struct thread threads[THREADS_MAX];
static int thread_count;

__attribute__((naked)) static void restore(void) { __asm__("mov $15, %eax\n\tsyscall"); } /* rt_sigreturn */

static void *thread_pointer(void) {
  void *pointer;
  __asm__("mov %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

/*
 * The thread waited in a call: it continues after one that the signal interrupted, or before one that it repeats. After or
 * before any other call it may hold a lock, for example of the memory that it has just mapped.
 */
static bool is_waiting(const void *context) {
  const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *next = (const uint8_t *)(uintptr_t)registers[REG_RIP];
  greg_t call = registers[REG_RAX], operation = registers[REG_RSI] & FUTEX_CMD_MASK;
  if (next[-2] == 0x0f && next[-1] == 0x05 && call == -EINTR) return true;
  if (next[0] != 0x0f || next[1] != 0x05) return false;
  return call == SYS_read || (call == SYS_futex && (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET));
}

static void wait_while(int *state, int value) {
  while (__atomic_load_n(state, __ATOMIC_SEQ_CST) == value) syscall(SYS_futex, state, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void change_state(int *state, int value) {
  __atomic_store_n(state, value, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Restores kernel state of a thread that clone(2) does not copy. */
static void restore_thread(const struct thread *self) {
  extern const ptrdiff_t __rseq_offset __attribute__((weak));
  extern const unsigned int __rseq_size __attribute__((weak));
  syscall(SYS_set_robust_list, self->robust_list, self->robust_bytes);
  syscall(SYS_sigaltstack, &self->signal_stack, NULL);
  prctl(PR_SET_NAME, self->name);
  if (!&__rseq_offset || !&__rseq_size || __rseq_size == 0) return;
  struct {
    uint32_t cpu_id_start;
    int32_t cpu_id;
  } *area = (void *)((uint8_t *)self->thread_pointer + __rseq_offset);
  area->cpu_id_start = 0;
  area->cpu_id = -1; /* not registered */
  syscall(SYS_rseq, area, RSEQ_BYTES, 0, RSEQ_SIGNATURE);
}

static struct thread *find_self(void) {
  pid_t tid = (pid_t)syscall(SYS_gettid);
  for (int i = 0; i < thread_count; i++) {
    if (threads[i].tid == tid) return &threads[i];
  }
  return NULL;
}

static void park(int signal, siginfo_t *info, void *context) {
  (void)signal;
  (void)info;
  int saved_errno = errno;
  struct thread *volatile self = find_self();
  if (!self) return;
  self->was_waiting = is_waiting(context);
  self->thread_pointer = thread_pointer();
  syscall(SYS_get_robust_list, 0, &self->robust_list, &self->robust_bytes);
  syscall(SYS_sigaltstack, NULL, &self->signal_stack);
  prctl(PR_GET_TID_ADDRESS, &self->tid_address);
  prctl(PR_GET_NAME, self->name);
  if (__builtin_setjmp(self->here) == 0) {
    change_state(&self->state, PARKED);
    wait_while(&self->state, PARKED);
  } else { /* in a fork, as a new thread */
    restore_thread(self);
  }
  errno = saved_errno;
}

/* Whether it sleeps: the state letter behind its name, see proc(5). */
static bool is_asleep(pid_t tid) {
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
  if (fd >= 0) close(fd);
  text[count > 0 ? count : 0] = 0;
  const char *name_end = strrchr(text, ')');
  return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

static bool park_thread(struct thread *thread) {
  for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    nanosleep(&(struct timespec){.tv_nsec = attempt == 0 ? 0 : PAUSE_NS}, NULL);
    if (!is_asleep(thread->tid)) continue;
    thread->state = RUNNING;
    if (syscall(SYS_tgkill, getpid(), thread->tid, PARK_SIGNAL) < 0) return false;
    wait_while(&thread->state, RUNNING);
    if (thread->was_waiting) return true;
    change_state(&thread->state, RUNNING); /* it may be about to take a lock */
  }
  errno = EBUSY;
  return false;
}

static bool list_threads(void) {
  pid_t own = (pid_t)syscall(SYS_gettid);
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return false;
  thread_count = 0;
  bool fits = true;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    pid_t tid = atoi(entry->d_name);
    if (tid <= 0 || tid == own) continue;
    fits = thread_count < THREADS_MAX;
    if (!fits) break;
    threads[thread_count++] = (struct thread){.tid = tid};
  }
  closedir(folder);
  errno = E2BIG;
  return fits;
}

/* A known name that ends with a space is followed by a number. */
static bool is_one(const char *known, const char *name) {
  size_t length = strlen(known);
  return length > 0 && known[length - 1] == ' ' ? strncmp(known, name, length) == 0 : strcmp(known, name) == 0;
}

static bool is_named(const char *const names[], const char *name) {
  while (*names && !is_one(*names, name)) names++;
  return *names != NULL;
}

/* Empty for one that has ended. */
static void read_name(pid_t tid, char name[NAME_BYTES]) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t count = fd < 0 ? 0 : read(fd, name, NAME_BYTES);
  if (fd >= 0) close(fd);
  name[count > 0 ? count - 1 : 0] = 0; /* a line */
}

static char stranger[NAME_BYTES];

const char *thread_in_the_way(void) { return stranger; }

static bool are_idle(const char *const idle[]) {
  for (int i = 0; i < thread_count; i++) {
    read_name(threads[i].tid, stranger);
    if (!is_named(idle, stranger)) return false;
  }
  return true;
}

static bool list_idle_threads(const char *const idle[]) {
  for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    if (!list_threads()) return false;
    if (are_idle(idle)) return true;
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
  }
  errno = EEXIST;
  return false;
}

int park_threads(const char *const idle[]) {
  struct kernel_action before;
  struct kernel_action action = {park, SA_SIGINFO | SA_RESTART | SA_RESTORER_FLAG, restore, ~(uint64_t)0};
  if (!list_idle_threads(idle)) return -1;
  if (syscall(SYS_rt_sigaction, PARK_SIGNAL, &action, &before, sizeof action.mask) < 0) return -1;
  bool parked = true;
  for (int i = 0; i < thread_count && parked; i++) parked = park_thread(&threads[i]);
  int error = errno;
  syscall(SYS_rt_sigaction, PARK_SIGNAL, &before, NULL, sizeof action.mask);
  errno = error;
  return parked ? thread_count : -1;
}

static int come_back(void *thread) { __builtin_longjmp(((struct thread *)thread)->here, 1); }

static bool revive(struct thread *thread) {
  const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID; /* those of pthread_create */
  thread->state = RUNNING;
  int tid = clone(come_back, thread->stack + STACK_BYTES, flags, thread, thread->tid_address, thread->thread_pointer,
                  thread->tid_address);
  return tid > 0;
}

bool revive_threads(void) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  bool all_alive = true;
  for (int i = 0; i < thread_count; i++) {
    if (!threads[i].is_alive) threads[i].is_alive = revive(&threads[i]);
    all_alive = all_alive && threads[i].is_alive;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return all_alive;
}

#else

int park_threads(const char *const idle[]) {
  (void)idle;
  errno = ENOSYS;
  return -1;
}

bool revive_threads(void) { return false; }

#endif
