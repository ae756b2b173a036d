/** Files: the allowed operations on a descriptor, and the allowed advice about its use. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

export const fcntl = call('fcntl', 72, 25)
export const advise = call('fadvise64', 221, 223)

export const fileLists: readonly AllowList[] = [
  {
    calls: [fcntl],
    argument: 1,
    otherwise: 'EINVAL',
    // A process that opens a file for writing has to wait for a reader's lease; watches on folders slow down every
    // lookup below them. F_OFD_SETLK: the kernel does not say who owns such a lock, so it could not be counted, see
    // native/cell/watch/files/locks.c.
    reason:
      'Leases make others wait 45 seconds, watches slow down everybody’s programs, and hints stay with a file that is shared.',
    allowed: allow([
      [0, 'F_DUPFD', 'Copies a descriptor.', 'shells, CPython'],
      [1, 'F_GETFD', 'Asks whether exec closes it.', 'every shell and runtime'],
      [2, 'F_SETFD', 'Says whether exec closes it.', 'every shell and runtime'],
      [3, 'F_GETFL', 'Asks how it was opened.', 'every runtime'],
      [4, 'F_SETFL', 'Makes it non-blocking.', 'every runtime'],
      [5, 'F_GETLK', 'Looks for a lock.', 'SQLite, Bun'],
      [6, 'F_SETLK', 'Locks.', 'SQLite, cargo, CPython, git'],
      [7, 'F_SETLKW', 'Locks, and waits for it.', 'CPython, mail programs'],
      [8, 'F_SETOWN', 'Says who gets SIGIO.', 'nginx, CPython'],
      [9, 'F_GETOWN', 'Asks who does.', 'nginx, CPython'],
      [10, 'F_SETSIG', 'Says which signal is sent instead.', 'servers with signal-driven input'],
      [11, 'F_GETSIG', 'Asks which.', 'servers with signal-driven input'],
      [15, 'F_SETOWN_EX', 'Says which thread gets SIGIO.', 'servers with signal-driven input'],
      [16, 'F_GETOWN_EX', 'Asks which.', 'servers with signal-driven input'],
      [36, 'F_OFD_GETLK', 'Looks for a lock of a descriptor.', 'LMDB, systemd, Rust'],
      [1027, 'F_DUPFD_QUERY', 'Compares two descriptors of its own.', 'Mesa, systemd'],
      [1030, 'F_DUPFD_CLOEXEC', 'Copies a descriptor that exec closes.', 'every runtime'],
      [1031, 'F_SETPIPE_SZ', 'Changes what a pipe holds, within the user’s limit.', 'CPython, pv, Bun'],
      [1032, 'F_GETPIPE_SZ', 'Asks what it holds.', 'CPython, bash, make'],
      [1033, 'F_ADD_SEALS', 'Fixes the size of a memory file.', 'Wayland, libffi, systemd'],
      [1034, 'F_GET_SEALS', 'Asks what is fixed.', 'Wayland, libffi, systemd'],
      [1035, 'F_GET_RW_HINT', 'Asks for a hint.', 'RocksDB'],
      [1037, 'F_GET_FILE_RW_HINT', 'Asks for a hint.', 'RocksDB'],
    ]),
  },
  {
    calls: [advise],
    argument: 3,
    otherwise: 'EINVAL',
    reason: 'There is no other advice.',
    allowed: allow([
      [0, 'POSIX_FADV_NORMAL', 'Takes back other advice.', 'copiers, databases'],
      [1, 'POSIX_FADV_RANDOM', 'Reads nothing ahead.', 'databases'],
      [2, 'POSIX_FADV_SEQUENTIAL', 'Reads ahead.', 'cat, cp, sort and grep'],
      [3, 'POSIX_FADV_WILLNEED', 'Reads now.', 'PostgreSQL, CPython’s tests'],
      [
        4,
        'POSIX_FADV_DONTNEED',
        'Is taken as a hint and forgotten, see below.',
        'tar, rsync, dd, PostgreSQL',
      ],
      [5, 'POSIX_FADV_NOREUSE', 'Says that it reads once.', 'rsync, backup programs'],
    ]),
  },
  {
    calls: [call('preadv2', 327, 286), call('pwritev2', 328, 287)],
    argument: 5,
    isFlags: true,
    otherwise: 'EOPNOTSUPP',
    reason: 'RWF_NOWAIT tells what others have read, and RWF_DONTCACHE throws it out of memory.',
    allowed: allow([
      [1, 'RWF_HIPRI', 'Waits for the disk by asking it.', 'CPython, databases'],
      [2, 'RWF_DSYNC', 'Writes data through.', 'CPython, databases'],
      [4, 'RWF_SYNC', 'Writes data and times through.', 'CPython, databases'],
      [16, 'RWF_APPEND', 'Writes at the end.', 'CPython'],
    ]),
  },
  {
    calls: [call('fallocate', 285, 47)],
    argument: 1,
    isFlags: true,
    otherwise: 'EOPNOTSUPP',
    reason: 'Moves and unshares the blocks of a file, which few file systems can and programs do without.',
    allowed: allow([
      [1, 'FALLOC_FL_KEEP_SIZE', 'Reserves beyond the end.', 'databases, fallocate'],
      [2, 'FALLOC_FL_PUNCH_HOLE', 'Gives blocks back.', 'OpenJDK, databases, fallocate'],
      [16, 'FALLOC_FL_ZERO_RANGE', 'Makes zeros.', 'databases, fallocate'],
    ]),
  },
  {
    calls: [call('renameat2', 316, 276)],
    argument: 4,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'A whiteout is a device, which overlays leave behind.',
    allowed: allow([
      [1, 'RENAME_NOREPLACE', 'Fails if the name is taken.', 'mv, Rust, Go'],
      [2, 'RENAME_EXCHANGE', 'Swaps two names.', 'mv, package managers'],
    ]),
  },
  {
    calls: [call('pipe2', 293, 59)],
    argument: 1,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'Pipes of notifications had a hole that made people root (CVE-2022-0995).',
    allowed: allow([
      [0o2000000, 'O_CLOEXEC', 'Closes both ends at exec.', 'every runtime'],
      [0o4000, 'O_NONBLOCK', 'Does not wait.', 'Node, Redis, Bun'],
      [0o40000, 'O_DIRECT', 'Keeps writes apart.', 'systemd, autofs'],
    ]),
  },
]
