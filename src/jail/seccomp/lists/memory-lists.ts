/** Memory: how it may be mapped, and the allowed advice about it. */
import { allow, call } from './allow-list.ts'
import type { AllowList } from './allow-list.ts'

const mmap = call('mmap', 9, 222)
const mapType = 0xf

const hugePages =
  'Huge pages are a reserve of the host that no limit counts; programs continue with small pages, as without a reserve.'

export const memoryLists: readonly AllowList[] = [
  {
    calls: [mmap],
    argument: 3,
    mask: mapType,
    otherwise: 'EINVAL',
    reason: 'There are no other kinds of mappings.',
    allowed: allow([
      [1, 'MAP_SHARED', 'Shares a file’s memory.', 'databases, interpreters, ld'],
      [2, 'MAP_PRIVATE', 'Maps memory of the caller’s own.', 'every program'],
      [3, 'MAP_SHARED_VALIDATE', 'MAP_SHARED whose flags are checked.', 'databases'],
      [8, 'MAP_DROPPABLE', 'Memory that the kernel may forget.', 'glibc, for random numbers without a call'],
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
      [0x10, 'MAP_FIXED', 'Takes exactly this address.', 'the dynamic linker, V8, OpenJDK'],
      [0x20, 'MAP_ANONYMOUS', 'Maps no file.', 'every program'],
      [0x40, 'MAP_32BIT', 'Takes a low address.', 'JITs: LuaJIT, CPython’s cffi, Erlang'],
      [0x80, 'MAP_ABOVE4G', 'Takes a high address.', 'runtimes with shadow stacks'],
      [0x800, 'MAP_DENYWRITE', 'Means nothing any more.', 'the dynamic linker'],
      [0x1000, 'MAP_EXECUTABLE', 'Means nothing any more.', 'older dynamic linkers'],
      [0x2000, 'MAP_LOCKED', 'Keeps pages in memory, within the limit of locked memory.', 'databases'],
      [0x4000, 'MAP_NORESERVE', 'Reserves addresses only.', 'Node, Bun, OpenJDK, Go, rustc'],
      [0x8000, 'MAP_POPULATE', 'Reads it in at once.', 'Node, databases'],
      [0x10000, 'MAP_NONBLOCK', 'Reads nothing in.', 'programs that wrote MAP_POPULATE beside it'],
      [0x20000, 'MAP_STACK', 'Means nothing on Linux.', 'glibc and musl, for stacks of threads'],
      [0x80000, 'MAP_SYNC', 'Writes to persistent memory.', 'PMDK, which falls back'],
      [0x100000, 'MAP_FIXED_NOREPLACE', 'Takes this address if it is free.', 'V8, Wine, JavaScriptCore'],
    ]),
  },
  {
    calls: [call('mremap', 25, 216)],
    argument: 3,
    isFlags: true,
    hasHighHalf: true,
    otherwise: 'EINVAL',
    reason: 'Leaving the old place mapped came in Linux 5.7, for programs that checkpoint others.',
    allowed: allow([
      [1, 'MREMAP_MAYMOVE', 'Moves what it enlarges.', 'malloc of glibc and musl, CPython’s mmap, databases'],
      [2, 'MREMAP_FIXED', 'Moves to this address.', 'OpenJDK, Wine'],
    ]),
  },
  {
    calls: [call('madvise', 28, 233)],
    argument: 2,
    otherwise: 'EINVAL',
    reason:
      'Merging equal pages tells what others have in theirs, and throwing out or poisoning pages takes them from others, too.',
    allowed: allow([
      [0, 'MADV_NORMAL', 'Takes back other advice.', 'CPython’s mmap, databases'],
      [1, 'MADV_RANDOM', 'Reads nothing ahead.', 'LMDB, SQLite, RocksDB'],
      [2, 'MADV_SEQUENTIAL', 'Reads ahead.', 'git, ripgrep, databases'],
      [3, 'MADV_WILLNEED', 'Reads now.', 'Bun, databases'],
      [4, 'MADV_DONTNEED', 'Gives memory back.', 'malloc, V8, JavaScriptCore, Go, thread stacks of glibc'],
      [8, 'MADV_FREE', 'Gives memory back when it is short.', 'jemalloc, Redis, Go, rustc'],
      [9, 'MADV_REMOVE', 'Gives back memory of a file in memory.', 'jemalloc, shared heaps'],
      [10, 'MADV_DONTFORK', 'Keeps memory from children.', 'Node, JavaScriptCore'],
      [11, 'MADV_DOFORK', 'Takes that back.', 'Node, JavaScriptCore'],
      [14, 'MADV_HUGEPAGE', 'Asks for larger pages of its own memory.', 'NumPy, Go, jemalloc, OpenJDK'],
      [15, 'MADV_NOHUGEPAGE', 'Asks for none.', 'Bun, Redis, Go'],
      [16, 'MADV_DONTDUMP', 'Keeps memory out of cores.', 'Node, OpenSSL, glibc, libsodium'],
      [17, 'MADV_DODUMP', 'Takes that back.', 'OpenSSL, libsodium'],
      [18, 'MADV_WIPEONFORK', 'Gives children zeros.', 'OpenSSL, BoringSSL, jemalloc, glibc'],
      [19, 'MADV_KEEPONFORK', 'Takes that back.', 'BoringSSL'],
      [22, 'MADV_POPULATE_READ', 'Reads pages in.', 'OpenJDK, QEMU'],
      [23, 'MADV_POPULATE_WRITE', 'Makes pages writable at once.', 'OpenJDK, QEMU'],
      [102, 'MADV_GUARD_INSTALL', 'Makes a page trap.', 'glibc 2.42, for stacks of threads'],
      [103, 'MADV_GUARD_REMOVE', 'Takes that back.', 'glibc 2.42, for stacks of threads'],
    ]),
  },
  {
    calls: [call('memfd_create', 319, 279)],
    argument: 1,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: hugePages,
    allowed: allow([
      [1, 'MFD_CLOEXEC', 'Closes it at exec.', 'Bun, CPython, OpenJDK'],
      [2, 'MFD_ALLOW_SEALING', 'Lets its size be fixed.', 'libffi, Wayland, CPython’s tests'],
      [8, 'MFD_NOEXEC_SEAL', 'Lets nobody execute it.', 'Bun'],
      [16, 'MFD_EXEC', 'Lets it be executed.', 'libffi, runc'],
    ]),
  },
  {
    calls: [call('shmget', 29, 194)],
    argument: 2,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: hugePages,
    allowed: allow([
      [0o777, 'the mode', 'Says who may attach it.', 'PostgreSQL, X11 clients'],
      [0o1000, 'IPC_CREAT', 'Makes it.', 'PostgreSQL, X11 clients'],
      [0o2000, 'IPC_EXCL', 'Fails if it is there.', 'PostgreSQL'],
      [0o10000, 'SHM_NORESERVE', 'Reserves addresses only.', 'databases'],
    ]),
  },
  {
    calls: [call('mlock2', 325, 284)],
    argument: 2,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'There are no other flags.',
    allowed: allow([[1, 'MLOCK_ONFAULT', 'Locks pages as they come.', 'libsodium, databases']]),
  },
  {
    calls: [call('mlockall', 151, 230)],
    argument: 0,
    isFlags: true,
    otherwise: 'EINVAL',
    reason: 'There are no other flags.',
    allowed: allow([
      [1, 'MCL_CURRENT', 'Locks what is mapped.', 'GnuPG, databases'],
      [2, 'MCL_FUTURE', 'Locks what will be.', 'GnuPG, databases'],
      [4, 'MCL_ONFAULT', 'Locks pages as they come.', 'databases'],
    ]),
  },
  {
    calls: [call('shmctl', 31, 195)],
    argument: 1,
    otherwise: 'EINVAL',
    reason: 'Locks segments into memory, or lists those of others.',
    allowed: allow([
      [0, 'IPC_RMID', 'Removes it.', 'PostgreSQL, X11 clients'],
      [1, 'IPC_SET', 'Changes who may attach it.', 'servers that change their uid'],
      [2, 'IPC_STAT', 'Describes it.', 'PostgreSQL'],
      [3, 'IPC_INFO', 'Tells the limits.', 'ipcs'],
      [13, 'SHM_STAT', 'Describes one by its place.', 'ipcs'],
      [14, 'SHM_INFO', 'Tells how much is in use.', 'ipcs'],
    ]),
  },
]
