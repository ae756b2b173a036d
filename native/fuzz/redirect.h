/*
 * Included before every file of the launcher when a fuzz target is built: calls that would reach the kernel go to
 * fake-kernel.c instead. Only names are changed, so the code under test is the code that is shipped. The build finds a
 * call that is missing here: scripts/fuzzing/build-targets.ts refuses an object that refers to anything but these fakes
 * and functions that only compute, so no input can touch the machine.
 */
#ifndef LAZARET_REDIRECT_H
#define LAZARET_REDIRECT_H

/* All headers that declare these names come first, before the macros redefine them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake-calls.h"

int cell_main(void);

#define main cell_main
#define _exit(code) fake_exit(code)
#define accept4(fd, address, length, flags) ((void)(fd), fake_open())
#define bind(fd, address, length) ((void)(fd), (void)(address), (void)(length), fake_succeed())
#define chdir(path) ((void)(path), fake_succeed())
#define chmod(path, mode) ((void)(path), (void)(mode), fake_succeed())
#define chown(path, uid, gid) ((void)(path), (void)(uid), (void)(gid), fake_succeed())
#define chroot(path) ((void)(path), fake_succeed())
#define clock_getcpuclockid(pid, clock) ((void)(pid), *(clock) = 0, fake_succeed())
#define clock_gettime(clock, time) fake_clock(time)
#define close(fd) fake_close(fd)
#define closedir(stream) fake_closedir(stream)
#define epoll_create1(flags) ((void)(flags), fake_open())
#define epoll_ctl(set, operation, fd, event) ((void)(set), (void)(fd), (void)(event), fake_succeed())
#define epoll_wait(set, events, most, timeout) ((void)(set), (void)(events), fake_succeed()) /* nothing is ready */
#define connect(fd, address, length) ((void)(fd), (void)(address), (void)(length), fake_succeed())
#define dirfd(stream) ((void)(stream), 9)
#define dup2(from, to) ((void)(from), fake_succeed() < 0 ? -1 : (to))
#define dup3(from, to, flags) ((void)(from), fake_succeed() < 0 ? -1 : (to))
#define execve(file, arguments, environment) fake_execve(file, arguments, environment)
#define fchdir(fd) ((void)(fd), fake_succeed())
#define fclose(file) fake_fclose(file)
#define fchmod(fd, mode) ((void)(fd), (void)(mode), fake_succeed())
#define fchmodat(fd, name, mode, flags) ((void)(fd), (void)(name), (void)(mode), (void)(flags), fake_succeed())
#define fcntl(fd, ...) fake_fcntl(fd, __VA_ARGS__)
#define fdopendir(fd) ((void)(fd), fake_opendir())
#define fflush(stream) fake_succeed()
#define fopen(path, mode) fake_fopen(path)
#define fork() fake_fork()
#define vfork() fake_fork()
#define fread(bytes, size, count, stream) (read_exactly(0, bytes, (size) * (count)) ? (count) : 0)
#define fscanf(file, format, number) fake_fscanf(file, number)
#define fstat(fd, facts) ((void)(fd), fake_stat(facts))
#define fstatat(fd, name, facts, flags) ((void)(fd), (void)(flags), fake_stat(facts))
#define ftruncate(fd, length) ((void)(fd), fake_succeed())
#define futimens(fd, times) ((void)(fd), (void)(times), fake_succeed())
#define fwrite(bytes, size, count, stream) fake_fwrite(bytes, size, count)
#define geteuid() fake_getuid()
#define getpid() fake_getpid()
#define getppid() fake_getppid()
#define getpriority(which, who) ((void)(which), (void)(who), fake_succeed())
#define getrlimit(resource, limit) fake_getrlimit(limit)
#define getrusage(who, usage) ((void)(usage), fake_nothing())
#define getsockopt(fd, level, option, value, length) ((void)(fd), (void)(level), fake_getsockopt(value, length))
#define getuid() fake_getuid()
#define ioctl(fd, request, argument) ((void)(fd), fake_ioctl(request, (void *)(uintptr_t)(argument)))
#define kill(pid, number) fake_kill(pid, number)
#define linkat(from, name, to, other, flags) ((void)(from), (void)(to), (void)(other), fake_succeed())
#define listen(fd, backlog) ((void)(fd), fake_succeed())
#define lstat(path, facts) ((void)(path), fake_stat(facts))
#define malloc(size) fake_malloc(size)
#define mkdir(path, mode) ((void)(path), (void)(mode), fake_succeed())
#define mkdirat(fd, name, mode) ((void)(fd), (void)(name), (void)(mode), fake_succeed())
#define mount(source, target, type, flags, data) \
  ((void)(source), (void)(target), (void)(type), (void)(flags), (void)(data), fake_succeed())
#define nanosleep(time, left) ((void)(time), fake_nothing())
#define open(...) fake_open_path(__VA_ARGS__)
#define openat(...) fake_openat(__VA_ARGS__)
#define opendir(path) ((void)(path), fake_opendir())
#define pipe2(fds, flags) fake_pair(fds)
#define poll(polled, count, timeout) ((void)(timeout), fake_poll(polled, count))
#define posix_fadvise(fd, offset, length, advice) ((void)(fd), (void)(offset), (void)(length), fake_succeed())
#define prctl(...) fake_prctl(__VA_ARGS__)
#define preadv2(fd, parts, count, offset, flags) ((void)(fd), (void)(parts), (void)(offset), fake_succeed() + 1)
#define read(fd, buffer, length) fake_read(fd, buffer, length)
#define readdir(stream) fake_readdir(stream)
#define readlink(path, target, size) ((void)(path), fake_readlink(target, size))
#define readlinkat(fd, name, target, size) ((void)(fd), (void)(name), fake_readlink(target, size))
#define recv(fd, buffer, length, flags) ((void)(fd), fake_recv(buffer, length))
#define rename(from, to) ((void)(from), (void)(to), fake_succeed())
#define rewinddir(stream) ((void)(stream))
#define rmdir(path) ((void)(path), fake_succeed())
#define send(fd, buffer, length, flags) ((void)(fd), (void)(buffer), (void)(length), fake_succeed())
#define sendmsg(fd, envelope, flags) ((void)(fd), (void)(flags), fake_sendmsg(envelope))
#define setfsgid(id) fake_fsid(id)
#define setfsuid(id) fake_fsid(id)
#define setgroups(count, groups) fake_succeed()
#define sethostname(name, length) ((void)(name), (void)(length), fake_succeed())
#define setresgid(real, effective, saved) ((void)(real), (void)(effective), (void)(saved), fake_succeed())
#define setresuid(real, effective, saved) ((void)(real), (void)(saved), fake_setuid(effective))
#define setrlimit(resource, limit) ((void)(resource), (void)(limit), fake_succeed())
#define setsockopt(fd, level, option, value, length) ((void)(fd), (void)(value), fake_succeed())
#define setsid() fake_succeed()
#define setvbuf(stream, buffer, mode, size) ((void)(buffer), fake_nothing())
#define shutdown(fd, how) ((void)(fd), fake_succeed())
#define signal(number, handler) ((void)(number), fake_succeed() < 0 ? SIG_ERR : SIG_DFL)
#define signalfd(fd, mask, flags) ((void)(mask), fake_open())
#define sigprocmask(how, set, old) ((void)(set), fake_succeed())
#define socket(domain, type, protocol) fake_open()
#define socketpair(domain, type, protocol, fds) fake_pair(fds)
#define stat(path, facts) ((void)(path), fake_stat(facts))
#define statfs(path, facts) ((void)(path), fake_statfs(facts))
#define symlink(target, path) ((void)(target), (void)(path), fake_succeed())
#define symlinkat(target, fd, name) ((void)(target), (void)(fd), (void)(name), fake_succeed())
#define syscall(...) fake_syscall(__VA_ARGS__)
#define umask(mask) ((void)(mask))
#define umount2(path, flags) ((void)(path), fake_succeed())
#define unlink(path) ((void)(path), fake_succeed())
#define unlinkat(fd, name, flags) ((void)(fd), (void)(name), (void)(flags), fake_succeed())
#define unshare(flags) ((void)(flags), fake_succeed())
#define wait4(pid, status, options, usage) fake_wait4(pid, status, options, usage)
#define waitid(kind, id, information, options) ((void)(id), fake_waitid(information))
#define waitpid(pid, status, options) fake_wait4(pid, status, options, NULL)
#define write(fd, buffer, length) fake_write(fd, buffer, length)

#endif
