/** The values that are written into the cgroup of a cell with these limits. */
import { defaultLimits } from '../../../src/core/limits.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { CgroupFigures } from '../../../src/jail/limits/limit-rows.ts'
import { planLimits } from '../../../src/jail/limits/plan-limits.ts'

export function figuresOf(limits: Partial<Limits> = {}): CgroupFigures {
  const ground = { level: 'strong', cgroupVersion: 1, identity: 'own' } as const
  const figures = { openFilesHard: 4096, processesHard: 4096, tcpMem: '' }
  const { cgroup } = planLimits({ ...defaultLimits, ...limits }, ground, figures)
  if (cgroup === null) throw new Error('There is a cgroup there.')
  return cgroup
}
