/** Memory: how it may be mapped, and the allowed advice about it. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

const mmap = call('mmap', 9, 222)
const mapType = 0xf

const hugePages =
  'Huge pages come from a reserve of the host that no limit counts. Programs continue with small pages, as if there were no reserve.'

export const memoryLists: readonly AllowList[] = [
  {
    calls: [mmap],
    argument: 3,
    mask: mapType,
    otherwise: 'EINVAL',
    reason: 'There are no other kinds of mappings.',
    allowed: allow([
      [1, 'MAP_SHARED', 'Shares changes with other mappings of the file.', 'databases, interpreters, ld'],
      [2, 'MAP_PRIVATE', 'Keeps changes private to the process.', 'every program'],
      [3, 'MAP_SHARED_VALIDATE', 'MAP_SHARED that refuses unknown flags.', 'databases'],
      [
        8,
        'MAP_DROPPABLE',
        'Memory that the kernel may discard when it needs room.',
        'glibc, for random numbers without a system call',
      ],
    ]),
  },
  {
    calls: [mmap],
    argument: 3,
    isFlags: true,
    mask: ~mapType >>> 0,
    hasHighHalf: true,
    otherwise: 'EINVAL',
    reason: hugePages,
    allowed: allow([
      [0x10, 'MAP_FIXED', 'Maps at exactly this address.', 'the dynamic linker, V8, OpenJDK'],
      [0x20, 'MAP_ANONYMOUS', 'Maps memory without a file.', 'every program'],
      [0x40, 'MAP_32BIT', 'Maps at an address below 2 GiB.', 'JITs: LuaJIT, CPython’s cffi, Erlang'],
      [0x80, 'MAP_ABOVE4G', 'Maps at an address above 4 GiB.', 'runtimes with shadow stacks'],
      [0x800, 'MAP_DENYWRITE', 'Has no effect any more.', 'the dynamic linker'],
      [0x1000, 'MAP_EXECUTABLE', 'Has no effect any more.', 'older dynamic linkers'],
      [0x2000, 'MAP_LOCKED', 'Keeps pages in memory, within the limit of locked memory.', 'databases'],
      [
        0x4000,
        'MAP_NORESERVE',
        'Reserves addresses without reserving memory.',
        'Node, Bun, OpenJDK, Go, rustc',
      ],
      [0x8000, 'MAP_POPULATE', 'Reads all pages in at once.', 'Node, databases'],
      [
        0x10000,
        'MAP_NONBLOCK',
        'Turns off the read-ahead of MAP_POPULATE.',
        'programs that also set MAP_POPULATE',
      ],
      [0x20000, 'MAP_STACK', 'Has no effect on Linux.', 'glibc and musl, for stacks of threads'],
      [0x80000, 'MAP_SYNC', 'Maps persistent memory directly.', 'PMDK, which falls back'],
      [
        0x100000,
        'MAP_FIXED_NOREPLACE',
        'Maps at this address only if it is free.',
        'V8, Wine, JavaScriptCore',
      ],
    ]),
  },
  {
    calls: [call('mremap', 25, 216)],
    argument: 3,
    isFlags: true,
    hasHighHalf: true,
    otherwise: 'EINVAL',
    reason: 'MREMAP_DONTUNMAP, new in Linux 5.7, serves programs that checkpoint others.',
    allowed: allow([
      [
        1,
        'MREMAP_MAYMOVE',
        'Allows the mapping to move.',
        'malloc of glibc and musl, CPython’s mmap, databases',
      ],
      [2, 'MREMAP_FIXED', 'Moves the mapping to a given address.', 'OpenJDK, Wine'],
    ]),
  },
  {
    calls: [call('madvise', 28, 233)],
    argument: 2,
    otherwise: 'EINVAL',
    reason:
      'Merging equal pages reveals the content of other processes’ pages. Evicting or poisoning pages takes them from others too.',
    allowed: allow([
      [0, 'MADV_NORMAL', 'Cancels other advice.', 'CPython’s mmap, databases'],
      [1, 'MADV_RANDOM', 'Turns read-ahead off.', 'LMDB, SQLite, RocksDB'],
      [2, 'MADV_SEQUENTIAL', 'Reads further ahead.', 'git, ripgrep, databases'],
      [3, 'MADV_WILLNEED', 'Reads pages in now.', 'Bun, databases'],
      [4, 'MADV_DONTNEED', 'Frees pages now.', 'malloc, V8, JavaScriptCore, Go, thread stacks of glibc'],
      [8, 'MADV_FREE', 'Lets the kernel free pages when memory is short.', 'jemalloc, Redis, Go, rustc'],
      [9, 'MADV_REMOVE', 'Frees pages of a file that is in memory.', 'jemalloc, shared heaps'],
      [10, 'MADV_DONTFORK', 'Hides memory from children.', 'Node, JavaScriptCore'],
      [11, 'MADV_DOFORK', 'Cancels MADV_DONTFORK.', 'Node, JavaScriptCore'],
      [14, 'MADV_HUGEPAGE', 'Allows huge pages for the caller’s own memory.', 'NumPy, Go, jemalloc, OpenJDK'],
      [15, 'MADV_NOHUGEPAGE', 'Forbids huge pages.', 'Bun, Redis, Go'],
      [16, 'MADV_DONTDUMP', 'Leaves memory out of core dumps.', 'Node, OpenSSL, glibc, libsodium'],
      [17, 'MADV_DODUMP', 'Cancels MADV_DONTDUMP.', 'OpenSSL, libsodium'],
      [18, 'MADV_WIPEONFORK', 'Gives children zeroed memory.', 'OpenSSL, BoringSSL, jemalloc, glibc'],
      [19, 'MADV_KEEPONFORK', 'Cancels MADV_WIPEONFORK.', 'BoringSSL'],
      [22, 'MADV_POPULATE_READ', 'Faults pages in for reading.', 'OpenJDK, QEMU'],
      [23, 'MADV_POPULATE_WRITE', 'Faults pages in for writing.', 'OpenJDK, QEMU'],
      [
        102,
        'MADV_GUARD_INSTALL',
        'Makes accesses to a page fail: a guard page.',
        'glibc 2.42, for stacks of threads',
      ],
      [103, 'MADV_GUARD_REMOVE', 'Removes guard pages.', 'glibc 2.42, for stacks of threads'],
    ]),
  },
  {
    calls: [call('memfd_create', 319, 279)],
    argument: 1,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: hugePages,
    allowed: allow([
      [1, 'MFD_CLOEXEC', 'Closes the descriptor at exec.', 'Bun, CPython, OpenJDK'],
      [
        2,
        'MFD_ALLOW_SEALING',
        'Allows the size and the content to be sealed.',
        'libffi, Wayland, CPython’s tests',
      ],
      [8, 'MFD_NOEXEC_SEAL', 'Forbids executing the file, for good.', 'Bun'],
      [16, 'MFD_EXEC', 'Allows executing the file.', 'libffi, runc'],
    ]),
  },
  {
    calls: [call('shmget', 29, 194)],
    argument: 2,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: hugePages,
    allowed: allow([
      [0o777, 'the mode', 'The permissions of the segment.', 'PostgreSQL, X11 clients'],
      [0o1000, 'IPC_CREAT', 'Creates the segment.', 'PostgreSQL, X11 clients'],
      [0o2000, 'IPC_EXCL', 'Fails if the segment exists.', 'PostgreSQL'],
      [0o10000, 'SHM_NORESERVE', 'Reserves addresses without reserving memory.', 'databases'],
    ]),
  },
  {
    calls: [call('mlock2', 325, 284)],
    argument: 2,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'There are no other flags.',
    allowed: allow([[1, 'MLOCK_ONFAULT', 'Locks pages when they are first used.', 'libsodium, databases']]),
  },
  {
    calls: [call('mlockall', 151, 230)],
    argument: 0,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'There are no other flags.',
    allowed: allow([
      [1, 'MCL_CURRENT', 'Locks everything that is mapped now.', 'GnuPG, databases'],
      [2, 'MCL_FUTURE', 'Locks everything that will be mapped.', 'GnuPG, databases'],
      [4, 'MCL_ONFAULT', 'Locks pages when they are first used.', 'databases'],
    ]),
  },
  {
    calls: [call('shmctl', 31, 195)],
    argument: 1,
    otherwise: 'EINVAL',
    reason: 'Other commands lock segments into memory, or list segments of other users.',
    allowed: allow([
      [0, 'IPC_RMID', 'Removes the segment.', 'PostgreSQL, X11 clients'],
      [1, 'IPC_SET', 'Changes owner and permissions of the segment.', 'servers that change their uid'],
      [2, 'IPC_STAT', 'Describes the segment.', 'PostgreSQL'],
      [3, 'IPC_INFO', 'Returns the limits.', 'ipcs'],
      [13, 'SHM_STAT', 'Describes a segment by its index.', 'ipcs'],
      [14, 'SHM_INFO', 'Returns the number and size of all segments.', 'ipcs'],
    ]),
  },
]
