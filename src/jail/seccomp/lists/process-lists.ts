/** What a process may ask for itself and its threads: prctl, clone, futex and similar calls. */
import { allow, call } from './allow-list.ts'
import type { AllowList, AllowedValue } from './allow-list.ts'

/** prctl takes its option as an int. */
const prctlOptions: readonly AllowedValue[] = allow([
  [1, 'PR_SET_PDEATHSIG', 'Ends a process with its parent.', 'PostgreSQL, Bun, setpriv'],
  [2, 'PR_GET_PDEATHSIG', 'Asks for the signal of the line above.', 'setpriv'],
  [3, 'PR_GET_DUMPABLE', 'Asks whether the process may leave a core.', 'GnuPG, OpenSSH'],
  [4, 'PR_SET_DUMPABLE', 'Keeps secrets out of cores.', 'GnuPG, OpenSSH, the launcher'],
  [7, 'PR_GET_KEEPCAPS', 'Reads a flag that means nothing without capabilities.', 'libcap, setpriv'],
  [8, 'PR_SET_KEEPCAPS', 'Sets a flag that means nothing without capabilities.', 'nginx, libcap'],
  [15, 'PR_SET_NAME', 'Names a thread or process.', 'glibc, CPython, Node, Bun, OpenJDK, Redis'],
  [16, 'PR_GET_NAME', 'Asks for that name.', 'glibc, OpenJDK'],
  [21, 'PR_GET_SECCOMP', 'Tells that a filter is on the process.', 'libseccomp, man-db'],
  [
    23,
    'PR_CAPBSET_READ',
    'Tells which capabilities could be had.',
    'libcap, CPython’s tests, Redis, setpriv',
  ],
  [27, 'PR_GET_SECUREBITS', 'Tells how root is treated.', 'libcap, setpriv'],
  [29, 'PR_SET_TIMERSLACK', 'Makes the caller’s own timers less exact.', 'stress-ng, Chromium, systemd'],
  [30, 'PR_GET_TIMERSLACK', 'Asks how exact they are.', 'stress-ng, systemd'],
  [36, 'PR_SET_CHILD_SUBREAPER', 'Adopts orphans among the descendants.', 'the launcher, tini, supervisors'],
  [37, 'PR_GET_CHILD_SUBREAPER', 'Asks whether the caller does.', 'tini, supervisors'],
  [38, 'PR_SET_NO_NEW_PRIVS', 'Gives up set-uid programs; it is set already.', 'setpriv, man-db, bubblewrap'],
  [39, 'PR_GET_NO_NEW_PRIVS', 'Asks whether they are given up.', 'setpriv, sudo'],
  [41, 'PR_SET_THP_DISABLE', 'Does without huge pages of its own.', 'Redis, jemalloc'],
  [42, 'PR_GET_THP_DISABLE', 'Asks whether it does.', 'Redis, jemalloc'],
  [47, 'PR_CAP_AMBIENT', 'Asks for and clears ambient capabilities; there are none.', 'libcap, setpriv'],
  [51, 'PR_SVE_GET_VL', 'Asks how long vectors are on arm64.', 'numerical libraries on arm64'],
  [55, 'PR_SET_TAGGED_ADDR_CTRL', 'Turns on tagged pointers on arm64.', 'glibc, sanitizers on arm64'],
  [56, 'PR_GET_TAGGED_ADDR_CTRL', 'Asks for them on arm64.', 'glibc, sanitizers on arm64'],
  [64, 'PR_SME_GET_VL', 'Asks how long matrix vectors are on arm64.', 'numerical libraries on arm64'],
  [74, 'PR_GET_SHADOW_STACK_STATUS', 'Asks for the shadow stack on arm64.', 'glibc on arm64'],
  [75, 'PR_SET_SHADOW_STACK_STATUS', 'Turns it on.', 'glibc on arm64'],
  [76, 'PR_LOCK_SHADOW_STACK_STATUS', 'Keeps it on.', 'glibc on arm64'],
  [0x41555856, 'PR_GET_AUXV', 'Reads the vector that the kernel gave at exec.', 'rustix'],
])

/** For the zygote, whose forks put the guest's own filter on top. In a guest that filter refuses these. */
const zygoteOptions = allow([
  [22, 'PR_SET_SECCOMP', 'Puts a guest’s filter on a fork of the zygote.', 'the launcher'],
  [
    40,
    'PR_GET_TID_ADDRESS',
    'Tells where a thread’s number is stored, so that a fork has it there too.',
    'the launcher',
  ],
])

export const prctlList = (isZygote: boolean): AllowList => ({
  calls: [call('prctl', 157, 167)],
  argument: 0,
  otherwise: 'EINVAL',
  reason:
    'Fills uncounted kernel memory (futex hash), loads filters into one budget of the whole machine, weakens the caller, or steers what other processes share.',
  allowed: isZygote ? [...prctlOptions, ...zygoteOptions] : prctlOptions,
})

export const processLists: readonly AllowList[] = [
  {
    calls: [call('seccomp', 317, 277)],
    argument: 0,
    otherwise: 'EINVAL',
    reason:
      'Every filter is compiled into memory that the whole machine shares and nobody is charged for; a kernel without filters answers EINVAL.',
    allowed: allow([
      [2, 'SECCOMP_GET_ACTION_AVAIL', 'Asks what the kernel knows.', 'libseccomp'],
      [3, 'SECCOMP_GET_NOTIF_SIZES', 'Asks how long its structures are.', 'libseccomp'],
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
      'A new namespace, above all a user namespace, opens most of the kernel to its owner; the others trace, or share more than programs need.',
    allowed: allow([
      [0xff, 'the exit signal', 'Says what the parent gets at the end.', 'every program'],
      [0x100, 'CLONE_VM', 'Shares memory.', 'threads, vfork and posix_spawn'],
      [0x200, 'CLONE_FS', 'Shares the working folder.', 'threads'],
      [0x400, 'CLONE_FILES', 'Shares descriptors.', 'threads'],
      [0x800, 'CLONE_SIGHAND', 'Shares handlers of signals.', 'threads'],
      [0x1000, 'CLONE_PIDFD', 'Gives a descriptor of the child.', 'Go, Rust, systemd'],
      [0x4000, 'CLONE_VFORK', 'Waits until the child executes.', 'vfork and posix_spawn'],
      [0x8000, 'CLONE_PARENT', 'Makes a sibling.', 'programs of LinuxThreads; not in a sandbox, see below'],
      [0x10000, 'CLONE_THREAD', 'Makes a thread.', 'threads'],
      [0x40000, 'CLONE_SYSVSEM', 'Shares undo of semaphores.', 'threads of glibc and musl'],
      [0x80000, 'CLONE_SETTLS', 'Sets the thread’s own memory.', 'threads'],
      [0x100000, 'CLONE_PARENT_SETTID', 'Stores the id.', 'threads'],
      [0x200000, 'CLONE_CHILD_CLEARTID', 'Wakes those that join.', 'threads, fork'],
      [0x400000, 'CLONE_DETACHED', 'Means nothing any more.', 'threads of musl'],
      [0x1000000, 'CLONE_CHILD_SETTID', 'Stores the id.', 'fork'],
    ]),
  },
  {
    calls: [call('futex', 202, 98)],
    argument: 1,
    mask: ~(128 | 256) >>> 0, // FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME
    otherwise: 'ENOSYS',
    reason:
      'Moving waiters onto a lock with priority inheritance made many people root (CVE-2014-3153), and glibc stopped in 2.25.',
    allowed: allow([
      [0, 'FUTEX_WAIT', 'Waits.', 'every program with threads'],
      [1, 'FUTEX_WAKE', 'Wakes.', 'every program with threads'],
      [3, 'FUTEX_REQUEUE', 'Moves those that wait.', 'musl'],
      [4, 'FUTEX_CMP_REQUEUE', 'Moves those that wait.', 'OpenJDK, older glibc'],
      [5, 'FUTEX_WAKE_OP', 'Wakes and stores.', 'older glibc'],
      [6, 'FUTEX_LOCK_PI', 'Takes a mutex with priority inheritance.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [7, 'FUTEX_UNLOCK_PI', 'Gives it back.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [8, 'FUTEX_TRYLOCK_PI', 'Tries to take it.', 'glibc, for PTHREAD_PRIO_INHERIT'],
      [9, 'FUTEX_WAIT_BITSET', 'Waits until a point in time.', 'glibc, OpenJDK, Rust'],
      [10, 'FUTEX_WAKE_BITSET', 'Wakes some.', 'glib, Rust'],
      [13, 'FUTEX_LOCK_PI2', 'As LOCK_PI, by another clock.', 'glibc, for PTHREAD_PRIO_INHERIT'],
    ]),
  },
  {
    calls: [call('membarrier', 324, 283)],
    argument: 0,
    otherwise: 'EINVAL',
    reason: 'The global ones interrupt or wait for processors that run other tasks.',
    allowed: allow([
      [0, 'MEMBARRIER_CMD_QUERY', 'Asks what there is.', 'V8, OpenJDK, .NET, liburcu'],
      [8, 'PRIVATE_EXPEDITED', 'Orders the memory of its own threads.', 'V8, OpenJDK, .NET, liburcu'],
      [16, 'REGISTER_PRIVATE_EXPEDITED', 'Announces the line above.', 'V8, OpenJDK, .NET, liburcu'],
      [
        32,
        'PRIVATE_EXPEDITED_SYNC_CORE',
        'The same after code was written.',
        'V8 and JavaScriptCore on arm64',
      ],
      [64, 'REGISTER_PRIVATE_EXPEDITED_SYNC_CORE', 'Announces the line above.', 'V8, JavaScriptCore'],
      [128, 'PRIVATE_EXPEDITED_RSEQ', 'Restarts sequences of its own threads.', 'tcmalloc'],
      [256, 'REGISTER_PRIVATE_EXPEDITED_RSEQ', 'Announces the line above.', 'tcmalloc'],
      [512, 'GET_REGISTRATIONS', 'Asks what was announced.', 'libraries that start late'],
    ]),
  },
  {
    calls: [call('arch_prctl', 158, undefined)],
    argument: 0,
    otherwise: 'EINVAL',
    reason: 'Steers features of the processor that programs do without.',
    allowed: allow([
      [0x1001, 'ARCH_SET_GS', 'Sets a base register.', 'Wine'],
      [0x1002, 'ARCH_SET_FS', 'Sets the thread’s own memory.', 'every program on x86-64'],
      [0x1003, 'ARCH_GET_FS', 'Asks for it.', 'sanitizers'],
      [0x1004, 'ARCH_GET_GS', 'Asks for a base register.', 'sanitizers'],
      [0x1021, 'ARCH_GET_XCOMP_SUPP', 'Asks for states of the processor.', 'numerical libraries with AMX'],
      [0x1022, 'ARCH_GET_XCOMP_PERM', 'Asks which the process may use.', 'numerical libraries with AMX'],
      [0x1023, 'ARCH_REQ_XCOMP_PERM', 'Asks to use tiles.', 'numerical libraries with AMX'],
      [0x3001, 'ARCH_CET_STATUS', 'Asked for shadow stacks before Linux 6.6.', 'glibc'],
      [0x5001, 'ARCH_SHSTK_ENABLE', 'Turns a shadow stack on.', 'glibc'],
      [0x5002, 'ARCH_SHSTK_DISABLE', 'Turns it off.', 'glibc'],
      [0x5003, 'ARCH_SHSTK_LOCK', 'Keeps it as it is.', 'glibc'],
      [0x5005, 'ARCH_SHSTK_STATUS', 'Asks whether it is on.', 'glibc'],
    ]),
  },
  {
    calls: [call('sched_setscheduler', 144, 119)],
    argument: 1,
    mask: ~0x40000000 >>> 0, // SCHED_RESET_ON_FORK
    otherwise: 'EPERM',
    reason: 'Real time needs a privilege that guests lack, and other classes use a scheduler of the host.',
    allowed: allow([
      [0, 'SCHED_OTHER', 'The usual one.', 'CPython’s tests, chrt, OpenMP'],
      [3, 'SCHED_BATCH', 'Gives way more.', 'chrt, Samba'],
      [5, 'SCHED_IDLE', 'Gives way to everything.', 'chrt, file indexers'],
    ]),
  },
]
