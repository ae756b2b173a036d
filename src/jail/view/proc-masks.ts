/**
 * Masks: parts of a cell's /proc that are about the machine are read-only or hidden.
 * Stops: changing the host's settings, and reading what identifies it. Does not stop: reading counts of the whole machine,
 * such as /proc/meminfo.
 * Sources: proc(5), mount_setattr(2).
 */
import { countLocks } from '../machine/locks.ts'
import type { PlanRecord } from '../plan/plan-records.ts'

const readOnly = 1
const inert = 2 | 4 | 8 // nosuid, nodev, noexec

/** Entries of a fresh /proc that are about the machine and not about the cell's processes. Absent ones are skipped. */
export function planMasks(): PlanRecord[] {
  const unchangeable = [
    '/proc/sys',
    '/proc/sysrq-trigger',
    '/proc/irq',
    '/proc/bus',
    '/proc/fs',
    '/proc/acpi',
    '/proc/scsi',
    // Writing here makes the kernel monitor the pressure of the whole machine, in memory that no cgroup is charged for.
    '/proc/pressure',
  ]
  const hidden = [
    'kcore',
    'keys',
    'key-users',
    'timer_list',
    'kmsg',
    'kallsyms',
    'sched_debug',
    'latency_stats',
    'config.gz',
    'vmallocinfo',
    'cmdline',
    'modules',
    // Reading one of these blocks every lock, or every allocation, of the machine until the read ends.
    'locks',
    'zoneinfo',
    'buddyinfo',
  ]
  return [
    countLocks,
    ...unchangeable.map((path): PlanRecord => ({ do: 'read-only', path, attributes: readOnly | inert })),
    ...hidden.map((name): PlanRecord => ({ do: 'mask', path: `/proc/${name}` })),
  ]
}
