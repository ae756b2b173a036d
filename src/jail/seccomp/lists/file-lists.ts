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
      'Leases make other processes wait up to 45 seconds. Watches slow down the programs of others. Locks of open files cannot be counted. A hint about a file’s data outlives the process that sets it.',
    allowed: allow([
      [0, 'F_DUPFD', 'Duplicates a descriptor.', 'shells, CPython'],
      [1, 'F_GETFD', 'Returns whether exec closes the descriptor.', 'every shell and runtime'],
      [2, 'F_SETFD', 'Sets whether exec closes the descriptor.', 'every shell and runtime'],
      [3, 'F_GETFL', 'Returns how the descriptor was opened.', 'every runtime'],
      [4, 'F_SETFL', 'Changes flags, such as non-blocking mode.', 'every runtime'],
      [5, 'F_GETLK', 'Tests for a lock.', 'SQLite, Bun'],
      [6, 'F_SETLK', 'Sets a lock.', 'SQLite, cargo, CPython, git'],
      [7, 'F_SETLKW', 'Sets a lock, and waits for it.', 'CPython, mail programs'],
      [8, 'F_SETOWN', 'Sets which process gets SIGIO.', 'nginx, CPython'],
      [9, 'F_GETOWN', 'Returns which process gets SIGIO.', 'nginx, CPython'],
      [10, 'F_SETSIG', 'Replaces SIGIO with another signal.', 'servers with signal-driven input'],
      [11, 'F_GETSIG', 'Returns the signal that replaces SIGIO.', 'servers with signal-driven input'],
      [15, 'F_SETOWN_EX', 'Sets which thread gets SIGIO.', 'servers with signal-driven input'],
      [16, 'F_GETOWN_EX', 'Returns which thread gets SIGIO.', 'servers with signal-driven input'],
      [36, 'F_OFD_GETLK', 'Tests for a lock of an open file.', 'LMDB, systemd, Rust'],
      [
        1027,
        'F_DUPFD_QUERY',
        'Returns whether two descriptors of the caller are duplicates.',
        'Mesa, systemd',
      ],
      [1030, 'F_DUPFD_CLOEXEC', 'Duplicates a descriptor; exec closes the copy.', 'every runtime'],
      [1031, 'F_SETPIPE_SZ', 'Changes the capacity of a pipe, within the user’s limit.', 'CPython, pv, Bun'],
      [1032, 'F_GETPIPE_SZ', 'Returns the capacity of a pipe.', 'CPython, bash, make'],
      [1033, 'F_ADD_SEALS', 'Fixes the size of a memory file.', 'Wayland, libffi, systemd'],
      [1034, 'F_GET_SEALS', 'Returns the seals of a memory file.', 'Wayland, libffi, systemd'],
      [1035, 'F_GET_RW_HINT', 'Returns how long data is expected to live.', 'RocksDB'],
      [1037, 'F_GET_FILE_RW_HINT', 'Returns the same for one descriptor.', 'RocksDB'],
    ]),
  },
  {
    calls: [advise],
    argument: 3,
    otherwise: 'EINVAL',
    reason: 'There is no other advice.',
    allowed: allow([
      [0, 'POSIX_FADV_NORMAL', 'Cancels other advice.', 'copiers, databases'],
      [1, 'POSIX_FADV_RANDOM', 'Turns read-ahead off.', 'databases'],
      [2, 'POSIX_FADV_SEQUENTIAL', 'Reads further ahead.', 'cat, cp, sort and grep'],
      [3, 'POSIX_FADV_WILLNEED', 'Reads pages in now.', 'PostgreSQL, CPython’s tests'],
      [
        4,
        'POSIX_FADV_DONTNEED',
        'Reports success and does nothing: eviction would slow down others.',
        'tar, rsync, dd, PostgreSQL',
      ],
      [5, 'POSIX_FADV_NOREUSE', 'Announces that data is read only once.', 'rsync, backup programs'],
    ]),
  },
  {
    calls: [call('preadv2', 327, 286), call('pwritev2', 328, 287)],
    argument: 5,
    isFlags: true,
    otherwise: 'EOPNOTSUPP',
    reason: 'RWF_NOWAIT reveals what others have read. RWF_DONTCACHE evicts it from the page cache.',
    allowed: allow([
      [1, 'RWF_HIPRI', 'Polls the disk instead of sleeping.', 'CPython, databases'],
      [2, 'RWF_DSYNC', 'Writes the data to the disk before returning.', 'CPython, databases'],
      [4, 'RWF_SYNC', 'Writes data and metadata to the disk before returning.', 'CPython, databases'],
      [16, 'RWF_APPEND', 'Appends to the file.', 'CPython'],
    ]),
  },
  {
    calls: [call('fallocate', 285, 47)],
    argument: 1,
    isFlags: true,
    otherwise: 'EOPNOTSUPP',
    reason:
      'Other flags move or unshare blocks of a file. Few file systems support that, and programs work without it.',
    allowed: allow([
      [1, 'FALLOC_FL_KEEP_SIZE', 'Reserves blocks beyond the end of the file.', 'databases, fallocate'],
      [2, 'FALLOC_FL_PUNCH_HOLE', 'Frees blocks inside the file.', 'OpenJDK, databases, fallocate'],
      [16, 'FALLOC_FL_ZERO_RANGE', 'Zeroes part of the file.', 'databases, fallocate'],
    ]),
  },
  {
    calls: [call('renameat2', 316, 276)],
    argument: 4,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'RENAME_WHITEOUT creates a device node, as overlay file systems do.',
    allowed: allow([
      [1, 'RENAME_NOREPLACE', 'Fails if the new name exists.', 'mv, Rust, Go'],
      [2, 'RENAME_EXCHANGE', 'Swaps two names.', 'mv, package managers'],
    ]),
  },
  {
    calls: [call('pipe2', 293, 59)],
    argument: 1,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'Notification pipes had a hole that gave root (CVE-2022-0995).',
    allowed: allow([
      [0o2000000, 'O_CLOEXEC', 'Closes both ends at exec.', 'every runtime'],
      [0o4000, 'O_NONBLOCK', 'Makes both ends non-blocking.', 'Node, Redis, Bun'],
      [0o40000, 'O_DIRECT', 'Keeps each write a separate packet.', 'systemd, autofs'],
    ]),
  },
]
