/*
 * What fake-kernel.c implements for redirect.h, declared once for both. fake-kernel.c cannot include redirect.h itself,
 * because the macros there would redirect its own calls.
 */
#ifndef LAZARET_FAKE_CALLS_H
#define LAZARET_FAKE_CALLS_H

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

_Noreturn void fake_exit(int code);
int fake_succeed(void); /* 0, or -1 with an errno, as the input's seed decides */
int fake_nothing(void); /* 0 */
int fake_open(void);    /* a descriptor, or -1 */
int fake_open_path(const char *path, int flags, ...);
int fake_openat(int folder, const char *name, int flags, ...);
int fake_close(int fd);
int fake_fcntl(int fd, int command, ...);
ssize_t fake_read(int fd, void *buffer, size_t length);
ssize_t fake_write(int fd, const void *buffer, size_t length);
int fake_poll(struct pollfd *polled, nfds_t count);
int fake_pair(int fds[2]);
pid_t fake_fork(void);
pid_t fake_getpid(void);
int fake_execve(const char *file, char *const arguments[], char *const environment[]);
int fake_kill(pid_t pid, int number);
int fake_waitid(siginfo_t *end);
pid_t fake_wait4(pid_t pid, int *status, int options, struct rusage *usage);
int fake_ioctl(unsigned long request, void *argument);
int fake_prctl(int option, ...);
int fake_clock(struct timespec *time);
int fake_stat(struct stat *facts);
int fake_statfs(struct statfs *facts);
int fake_fsid(unsigned id);
ssize_t fake_readlink(char *target, size_t size);
DIR *fake_opendir(void);
struct dirent *fake_readdir(DIR *stream);
int fake_closedir(DIR *stream);
FILE *fake_fopen(const char *path);
int fake_fscanf(FILE *file, long *number);
int fake_fclose(FILE *file);
ssize_t fake_sendmsg(const struct msghdr *envelope);
ssize_t fake_recv(void *buffer, size_t length);
int fake_getsockopt(void *value, const socklen_t *length);
pid_t fake_getppid(void);
int fake_getrlimit(struct rlimit *limit);
int fake_setuid(uid_t uid);
uid_t fake_getuid(void);
size_t fake_fwrite(const void *bytes, size_t size, size_t count);
void *fake_malloc(size_t size);
long fake_syscall(long number, ...);

#endif
