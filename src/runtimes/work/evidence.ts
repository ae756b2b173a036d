/** The figures of a run, as counted by the kernel and the cell. */
import type { CellUsage, ProcessReport } from '../../jail/cell/guest-process.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import type { LeasedGround } from '../../jail/machine/machine.ts'
import type { Exit } from '../../result/exit.ts'

export interface Counted {
  readonly ground: LeasedGround
  readonly held: LimitPlan
  /** The processor time that the cell's cgroup had counted before the run, if its guest was started ahead. */
  readonly cpuMsBefore?: number
}

/** Undefined without a cgroup. */
export function countedCpuMs({ ground, cpuMsBefore = 0 }: Counted): number | undefined {
  const counted = ground.cgroup?.cpuMs()
  return counted === undefined ? undefined : Math.max(0, counted - cpuMsBefore)
}

/** `usage` is the watchdog's last report, for a run whose process has sent none. */
export function countedEvidence(
  counted: Counted,
  report: ProcessReport | null,
  usage: CellUsage,
): Pick<
  Exit,
  'end' | 'oomKills' | 'forksRefused' | 'diskFull' | 'dataLimited' | 'memoryPeakBytes' | 'cpuMs'
> {
  const { cgroup } = counted.ground
  const end = report?.end ?? null
  // Facts that would explain a failure are read only after one, because each read costs the host's time.
  const failed = end?.by !== 'exit' || end.exitCode !== 0
  return {
    end,
    oomKills: (failed && cgroup?.oomKills()) || 0,
    forksRefused: failed ? Math.max(0, (cgroup?.forksRefused() ?? 0) - (report?.forksRefusedToPid1 ?? 0)) : 0,
    diskFull: report?.diskFull ?? false,
    dataLimited: counted.held.by.memoryBytes !== 'cgroup',
    memoryPeakBytes:
      cgroup?.memoryPeakBytes() ??
      Math.max(report?.residentPeakBytes ?? 0, report?.watchdogPeakBytes ?? 0, usage.memoryPeakBytes),
    cpuMs: countedCpuMs(counted) ?? report?.cpuMs ?? usage.cpuMs,
  }
}
