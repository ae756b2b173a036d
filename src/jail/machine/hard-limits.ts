/**
 * The hard rlimits of this process. Guests inherit them, and nothing in a cell may raise them, so a guest gets the lower
 * of its own figure and the host's. Services often have low ones: `ulimit -c 0`, `LimitNPROC=`.
 * Source: getrlimit(2), proc_pid_limits(5), do_coredump() in fs/coredump.c.
 */
import { readFileSync } from 'node:fs'

import { resource as numbers } from '../limits/rlimits.ts'
import type { Rlimit } from '../limits/rlimits.ts'

const names: Readonly<Record<number, string>> = {
  [numbers.cpu]: 'Max cpu time',
  [numbers.fileSize]: 'Max file size',
  [numbers.data]: 'Max data size',
  [numbers.stack]: 'Max stack size',
  [numbers.core]: 'Max core file size',
  [numbers.processes]: 'Max processes',
  [numbers.openFiles]: 'Max open files',
  [numbers.locked]: 'Max locked memory',
  [numbers.pendingSignals]: 'Max pending signals',
  [numbers.queues]: 'Max msgqueue size',
}

/** Nothing in this process changes them. */
const known = new Map<string, number | null>()

/** Null for `unlimited`. */
export function readHardLimit(name: string): number | null {
  if (known.size === 0) {
    // Name, soft limit and hard limit stand in columns.
    const rows = readFileSync('/proc/self/limits', 'utf8').matchAll(/^(Max .+?) {2,}\S+ +(\S+)/gm)
    for (const [, row = '', hard] of rows) known.set(row, Number.isFinite(Number(hard)) ? Number(hard) : null)
  }
  return known.get(name) ?? null
}

export function withinHost<Spec extends { readonly rlimits: readonly Rlimit[] }>(spec: Spec): Spec {
  const rlimits = spec.rlimits.map(lower)
  return { ...spec, rlimits }
}

function lower(rlimit: Rlimit): Rlimit {
  const name = names[rlimit.resource]
  // The launcher, which adds the processes of others, stays below the limit itself.
  const most = name === undefined || rlimit.isBesideOthers === true ? null : readHardLimit(name)
  if (most === null || rlimit.hard <= most) return rlimit
  // With a core limit of 0 the kernel would start the host's collector of cores, see rlimits.ts. The cell fails instead.
  if (rlimit.resource === numbers.core && arePiped()) return rlimit
  return { ...rlimit, soft: Math.min(rlimit.soft, most), hard: most }
}

/** Whether cores go to a program or a socket of the host. Read each time, because an installed package may change it. */
function arePiped(): boolean {
  try {
    return /^[|@]/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'))
  } catch {
    return true
  }
}
