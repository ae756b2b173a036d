/**
 * Rlimits: limits for each process, in addition to cgroups, and instead of them where there are none.
 * Does not stop: many processes that each stay below the bound. RLIMIT_AS is never used: V8 and JSC reserve far more
 * address space than they touch. RLIMIT_CPU never equals the CPU limit: two threads burn it twice as fast.
 * limit-rows.ts says which of them a limit needs, and with which figure.
 * Source: getrlimit(2), asm-generic/resource.h.
 */

export interface Rlimit {
  readonly resource: number
  readonly soft: number
  readonly hard: number
  /**
   * The figure is added to what the same user's other processes use. Only the cell can count those, so it adds them,
   * and stays below the limit that it has inherited.
   */
  readonly isBesideOthers?: boolean
}

/** As the kernel numbers them. */
export const resource = {
  cpu: 0,
  fileSize: 1,
  data: 2,
  stack: 3,
  core: 4,
  processes: 6,
  openFiles: 7,
  locked: 8,
  pendingSignals: 11,
  queues: 12,
  nice: 13,
  realtime: 14,
} as const

export const both = (number: number, value: number): Rlimit => ({
  resource: number,
  soft: value,
  hard: value,
})

/**
 * POSIX timers and queued signals: enough for one timer for each thread. The kernel's default is tens of thousands, but
 * all timers of a machine are in one table, in which creating a timer takes longer the more there are.
 */
export const pendingSignalsMax = 1024

/**
 * No core file fits into one byte. Not 0: where the host pipes cores to a program (apport, systemd-coredump) the kernel
 * would start it, as root and outside the cell, for every guest that crashes; at exactly 1 it does not. The filter
 * ensures that a guest keeps the 1 (seccomp/argument-rules.ts).
 * Source: do_coredump() in fs/coredump.c.
 */
const coreBytes = 1

/** The rlimits of every guest, whatever its limits. */
export function constantRlimits(signalsMax: number): Rlimit[] {
  return [
    both(resource.core, coreBytes),
    both(resource.locked, 64 * 1024),
    both(resource.pendingSignals, signalsMax),
    both(resource.queues, 819_200),
    both(resource.nice, 0),
    both(resource.realtime, 0),
  ]
}

/** For our own reader of files in a cell: it opens one folder below another and starts nothing. */
export const collectorRlimits: readonly Rlimit[] = [
  both(resource.core, coreBytes),
  both(resource.fileSize, 0),
  both(resource.openFiles, 128),
  both(resource.processes, 0),
]

/** For the sandbox owner's file operations: the same, but they write. */
export function planFileRlimits(diskBytes: number): Rlimit[] {
  const others = collectorRlimits.filter((rlimit) => rlimit.resource !== resource.fileSize)
  return [...others, both(resource.fileSize, diskBytes)]
}
