/** What the kernel and the cell counted of a run. */
import type { CellUsage, ProcessReport } from '../../jail/cell/guest-process.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import type { LeasedGround } from '../../jail/machine/machine.ts'
import type { Exit } from '../../result/exit.ts'

export interface Counted {
  readonly ground: LeasedGround
  readonly held: LimitPlan
  /** What the cell's cgroup had counted before the run: of a guest that was started ahead of it. */
  readonly cpuMsBefore?: number
}

/** Undefined if no cgroup counts. */
export function countedCpuMs({ ground, cpuMsBefore = 0 }: Counted): number | undefined {
  const counted = ground.cgroup?.cpuMs()
  return counted === undefined ? undefined : Math.max(0, counted - cpuMsBefore)
}

/** `usage` is what the watchdog had seen when the guests were told to end, for a run without a report. */
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
