/** What a process may ask for itself and its threads: prctl, clone, futex and similar calls. */
import { allow, call } from './allow-list.ts'
import type { AllowList, AllowedValue } from './allow-list.ts'

/** prctl takes its option as an int. */
const prctlOptions: readonly AllowedValue[] = allow([
  [1, 'PR_SET_PDEATHSIG', 'Sends the caller a signal when its parent ends.', 'PostgreSQL, Bun, setpriv'],
  [2, 'PR_GET_PDEATHSIG', 'Returns the signal set by PR_SET_PDEATHSIG.', 'setpriv'],
  [3, 'PR_GET_DUMPABLE', 'Returns whether the process may write a core dump.', 'GnuPG, OpenSSH'],
  [
    4,
    'PR_SET_DUMPABLE',
    'Turns core dumps off, so that they hold no secrets.',
    'GnuPG, OpenSSH, the launcher',
  ],
  [7, 'PR_GET_KEEPCAPS', 'Returns a flag that has no effect without capabilities.', 'libcap, setpriv'],
  [8, 'PR_SET_KEEPCAPS', 'Sets a flag that has no effect without capabilities.', 'nginx, libcap'],
  [15, 'PR_SET_NAME', 'Names the calling thread.', 'glibc, CPython, Node, Bun, OpenJDK, Redis'],
  [16, 'PR_GET_NAME', 'Returns the name of the calling thread.', 'glibc, OpenJDK'],
  [21, 'PR_GET_SECCOMP', 'Returns whether a seccomp filter is active.', 'libseccomp, man-db'],
  [
    23,
    'PR_CAPBSET_READ',
    'Returns whether a capability is in the bounding set.',
    'libcap, CPython’s tests, Redis, setpriv',
  ],
  [27, 'PR_GET_SECUREBITS', 'Returns how the kernel treats root.', 'libcap, setpriv'],
  [29, 'PR_SET_TIMERSLACK', 'Lets the caller’s own timers fire later.', 'stress-ng, Chromium, systemd'],
  [30, 'PR_GET_TIMERSLACK', 'Returns how late the caller’s timers may fire.', 'stress-ng, systemd'],
  [
    36,
    'PR_SET_CHILD_SUBREAPER',
    'Makes the caller adopt its orphaned descendants.',
    'the launcher, tini, supervisors',
  ],
  [
    37,
    'PR_GET_CHILD_SUBREAPER',
    'Returns whether the caller adopts orphaned descendants.',
    'tini, supervisors',
  ],
  [
    38,
    'PR_SET_NO_NEW_PRIVS',
    'Turns set-uid programs off; Lazaret has already done so.',
    'setpriv, man-db, bubblewrap',
  ],
  [39, 'PR_GET_NO_NEW_PRIVS', 'Returns whether set-uid programs are off.', 'setpriv, sudo'],
  [41, 'PR_SET_THP_DISABLE', 'Turns transparent huge pages off for the caller.', 'Redis, jemalloc'],
  [42, 'PR_GET_THP_DISABLE', 'Returns whether transparent huge pages are off.', 'Redis, jemalloc'],
  [47, 'PR_CAP_AMBIENT', 'Reads and clears ambient capabilities; guests have none.', 'libcap, setpriv'],
  [51, 'PR_SVE_GET_VL', 'Returns the length of SVE vectors on arm64.', 'numerical libraries on arm64'],
  [55, 'PR_SET_TAGGED_ADDR_CTRL', 'Turns tagged pointers on, on arm64.', 'glibc, sanitizers on arm64'],
  [
    56,
    'PR_GET_TAGGED_ADDR_CTRL',
    'Returns whether tagged pointers are on, on arm64.',
    'glibc, sanitizers on arm64',
  ],
  [64, 'PR_SME_GET_VL', 'Returns the length of SME vectors on arm64.', 'numerical libraries on arm64'],
  [74, 'PR_GET_SHADOW_STACK_STATUS', 'Returns the state of the shadow stack on arm64.', 'glibc on arm64'],
  [75, 'PR_SET_SHADOW_STACK_STATUS', 'Turns the shadow stack on, on arm64.', 'glibc on arm64'],
  [76, 'PR_LOCK_SHADOW_STACK_STATUS', 'Locks the state of the shadow stack on arm64.', 'glibc on arm64'],
  [0x41555856, 'PR_GET_AUXV', 'Reads the auxiliary vector that the kernel passed at exec.', 'rustix'],
])

/** For the zygote, whose forks put the guest's own filter on top. In a guest that filter refuses these. */
const zygoteOptions = allow([
  [22, 'PR_SET_SECCOMP', 'Applies a guest’s filter to a fork of the zygote.', 'the launcher'],
  [
    40,
    'PR_GET_TID_ADDRESS',
    'Returns the address of a thread’s id, so that a fork can keep its own there.',
    'the launcher',
  ],
])

export const prctlList = (isZygote: boolean): AllowList => ({
  calls: [call('prctl', 157, 167)],
  argument: 0,
  otherwise: 'EINVAL',
  reason:
    'Other options fill uncounted kernel memory (futex hash), load filters into a budget of the whole machine, weaken the caller, or change what other processes share.',
  allowed: isZygote ? [...prctlOptions, ...zygoteOptions] : prctlOptions,
})

export const processLists: readonly AllowList[] = [
  {
    calls: [call('seccomp', 317, 277)],
    argument: 0,
    otherwise: 'EINVAL',
    reason:
      'The kernel compiles each filter into memory that the whole machine shares and that no cgroup is charged for. A kernel without filters returns EINVAL.',
    allowed: allow([
      [2, 'SECCOMP_GET_ACTION_AVAIL', 'Returns whether the kernel supports an action.', 'libseccomp'],
      [3, 'SECCOMP_GET_NOTIF_SIZES', 'Returns the sizes of the kernel’s structures.', 'libseccomp'],
    ]),
  },
  {
    calls: [call('clone', 56, 220)],
    argument: 0,
    isFlags: true,
    otherwise: 'EPERM',
    // CLONE_NEWTIME (0x80) is not one of them: in clone that bit belongs to the exit signal, and only unshare and
    // clone3, both refused, read it as a namespace.
    reason:
      'A new namespace, above all a user namespace, opens most of the kernel to its owner. The other flags trace, or share more than programs need.',
    allowed: allow([
      [0xff, 'the exit signal', 'The signal that the parent gets when the child ends.', 'every program'],
      [0x100, 'CLONE_VM', 'Shares memory.', 'threads, vfork and posix_spawn'],
      [0x200, 'CLONE_FS', 'Shares the working folder.', 'threads'],
      [0x400, 'CLONE_FILES', 'Shares the table of descriptors.', 'threads'],
      [0x800, 'CLONE_SIGHAND', 'Shares signal handlers.', 'threads'],
      [0x1000, 'CLONE_PIDFD', 'Returns a pidfd of the child.', 'Go, Rust, systemd'],
      [0x4000, 'CLONE_VFORK', 'Suspends the parent until the child calls exec.', 'vfork and posix_spawn'],
      [
        0x8000,
        'CLONE_PARENT',
        'Creates a sibling instead of a child.',
        'programs of LinuxThreads; refused in sandboxes, where it would evade timeouts',
      ],
      [0x10000, 'CLONE_THREAD', 'Creates a thread.', 'threads'],
      [0x40000, 'CLONE_SYSVSEM', 'Shares the undo list of System V semaphores.', 'threads of glibc and musl'],
      [0x80000, 'CLONE_SETTLS', 'Sets the thread-local storage.', 'threads'],
      [0x100000, 'CLONE_PARENT_SETTID', 'Stores the child’s id in the parent’s memory.', 'threads'],
      [
        0x200000,
        'CLONE_CHILD_CLEARTID',
        'Clears the id and wakes joining threads when the thread ends.',
        'threads, fork',
      ],
      [0x400000, 'CLONE_DETACHED', 'Has no effect any more.', 'threads of musl'],
      [0x1000000, 'CLONE_CHILD_SETTID', 'Stores the child’s id in its own memory.', 'fork'],
    ]),
  },
  {
    calls: [call('futex', 202, 98)],
    argument: 1,
    mask: ~(128 | 256) >>> 0, // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME
    otherwise: 'ENOSYS',
    reason:
      'Moving waiters to a lock with priority inheritance gave root (CVE-2014-3153). glibc has not used it since 2.25.',
    allowed: allow([
      [0, 'FUTEX_WAIT', 'Waits.', 'every program with threads'],
      [1, 'FUTEX_WAKE', 'Wakes waiters.', 'every program with threads'],
      [3, 'FUTEX_REQUEUE', 'Moves waiters to another futex.', 'musl'],
      [
        4,
        'FUTEX_CMP_REQUEUE',
        'Moves waiters to another futex if the value is as expected.',
        'OpenJDK, older glibc',
      ],
      [5, 'FUTEX_WAKE_OP', 'Changes a value and wakes waiters.', 'older glibc'],
      [6, 'FUTEX_LOCK_PI', 'Locks a mutex with priority inheritance.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [7, 'FUTEX_UNLOCK_PI', 'Unlocks such a mutex.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [8, 'FUTEX_TRYLOCK_PI', 'Tries to lock such a mutex.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [9, 'FUTEX_WAIT_BITSET', 'Waits until an absolute time.', 'glibc, OpenJDK, Rust'],
      [10, 'FUTEX_WAKE_BITSET', 'Wakes the waiters that match a mask.', 'glib, Rust'],
      [13, 'FUTEX_LOCK_PI2', 'FUTEX_LOCK_PI with another clock.', 'glibc, for PTHREAD_PRIO_INHERIT'],
    ]),
  },
  {
    calls: [call('membarrier', 324, 283)],
    argument: 0,
    otherwise: 'EINVAL',
    reason: 'The global commands interrupt processors that run other tasks, or wait for them.',
    allowed: allow([
      [0, 'MEMBARRIER_CMD_QUERY', 'Returns the supported commands.', 'V8, OpenJDK, .NET, liburcu'],
      [
        8,
        'PRIVATE_EXPEDITED',
        'Orders memory accesses of the process’s own threads.',
        'V8, OpenJDK, .NET, liburcu',
      ],
      [16, 'REGISTER_PRIVATE_EXPEDITED', 'Registers for PRIVATE_EXPEDITED.', 'V8, OpenJDK, .NET, liburcu'],
      [
        32,
        'PRIVATE_EXPEDITED_SYNC_CORE',
        'The same, after code was written.',
        'V8 and JavaScriptCore on arm64',
      ],
      [
        64,
        'REGISTER_PRIVATE_EXPEDITED_SYNC_CORE',
        'Registers for PRIVATE_EXPEDITED_SYNC_CORE.',
        'V8, JavaScriptCore',
      ],
      [128, 'PRIVATE_EXPEDITED_RSEQ', 'Restarts rseq sections of the process’s own threads.', 'tcmalloc'],
      [256, 'REGISTER_PRIVATE_EXPEDITED_RSEQ', 'Registers for PRIVATE_EXPEDITED_RSEQ.', 'tcmalloc'],
      [512, 'GET_REGISTRATIONS', 'Returns the registrations of the process.', 'libraries that start late'],
    ]),
  },
  {
    calls: [call('arch_prctl', 158, undefined)],
    argument: 0,
    otherwise: 'EINVAL',
    reason: 'Other commands control processor features that programs do not need.',
    allowed: allow([
      [0x1001, 'ARCH_SET_GS', 'Sets the GS base.', 'Wine'],
      [
        0x1002,
        'ARCH_SET_FS',
        'Sets the FS base, which holds thread-local storage.',
        'every program on x86-64',
      ],
      [0x1003, 'ARCH_GET_FS', 'Returns the FS base.', 'sanitizers'],
      [0x1004, 'ARCH_GET_GS', 'Returns the GS base.', 'sanitizers'],
      [
        0x1021,
        'ARCH_GET_XCOMP_SUPP',
        'Returns the processor states that the kernel supports.',
        'numerical libraries with AMX',
      ],
      [
        0x1022,
        'ARCH_GET_XCOMP_PERM',
        'Returns the processor states that the process may use.',
        'numerical libraries with AMX',
      ],
      [
        0x1023,
        'ARCH_REQ_XCOMP_PERM',
        'Requests permission to use AMX tiles.',
        'numerical libraries with AMX',
      ],
      [0x3001, 'ARCH_CET_STATUS', 'Returned the state of shadow stacks before Linux 6.6.', 'glibc'],
      [0x5001, 'ARCH_SHSTK_ENABLE', 'Turns the shadow stack on.', 'glibc'],
      [0x5002, 'ARCH_SHSTK_DISABLE', 'Turns the shadow stack off.', 'glibc'],
      [0x5003, 'ARCH_SHSTK_LOCK', 'Locks the state of the shadow stack.', 'glibc'],
      [0x5005, 'ARCH_SHSTK_STATUS', 'Returns the state of the shadow stack.', 'glibc'],
    ]),
  },
  {
    calls: [call('sched_setscheduler', 144, 119)],
    argument: 1,
    mask: ~0x40000000 >>> 0, // SCHED_RESET_ON_FORK
    otherwise: 'EPERM',
    reason:
      'Real-time policies need a privilege that guests lack. SCHED_EXT uses a scheduler that the host has loaded.',
    allowed: allow([
      [0, 'SCHED_OTHER', 'The default policy.', 'CPython’s tests, chrt, OpenMP'],
      [3, 'SCHED_BATCH', 'Gives way to interactive processes.', 'chrt, Samba'],
      [5, 'SCHED_IDLE', 'Runs only when nothing else does.', 'chrt, file indexers'],
    ]),
  },
]
