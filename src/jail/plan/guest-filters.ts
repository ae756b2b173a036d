/** The last records that confine every guest: Landlock, then seccomp. */
import { planLandlock } from './landlock.ts'
import type { MoreRights } from './landlock.ts'
import { shareRow } from './plan-records.ts'
import type { PlanRecord } from './plan-records.ts'
import { Remembered } from '../machine/remembered.ts'
import type { SeccompOptions } from '../seccomp/policy.ts'
import { seccompProgram } from '../seccomp/program.ts'

const remembered = new Remembered<readonly PlanRecord[]>()

/** `readable` are folders that guests may read besides those that every guest may. */
export function planGuestFilters(
  readable: readonly string[],
  options: SeccompOptions,
  rights: MoreRights = {},
): readonly PlanRecord[] {
  return remembered.get([readable, options, rights], () =>
    shareRow<PlanRecord[]>([
      { do: 'guest-landlock', policy: planLandlock([...readable, '/etc', '/opt/lazaret'], rights) },
      { do: 'guest-filter', program: seccompProgram(options) },
    ]),
  )
}
