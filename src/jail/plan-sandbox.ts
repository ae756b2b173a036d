/**
 * The plan of a sandbox's spaces. The sandbox's own cell is planned as a family's cell without a zygote (plan-family.ts).
 * Its pid 1 is the control space: it runs no guest, and starts these spaces side by side below itself. They share the
 * workspace and nothing else. Pure, like planCell.
 */
import { capabilitiesOfSpace } from './capabilities.ts'
import { planLandlock } from './landlock.ts'
import { planSandboxMounts, privateHome } from './mounts.ts'
import { spaceNamespaces } from './namespaces.ts'
import { behindNamespaces, readablePaths } from './plan.ts'
import type { CellPlan } from './plan.ts'
import type { PlanRecord } from './plan-records.ts'
import { seccompProgram } from './seccomp/program.ts'
import { guestId } from './shape.ts'
import type { CellShape } from './shape.ts'
import { listSources } from './sources.ts'
import type { SpaceGround } from './plan-family.ts'

/** `user` is for all commands that have no secrets; a `secure` one is for one command, with a home of its own. */
export type SpaceKind = 'user' | 'secure'

export function planSandboxSpace(shape: CellShape, ground: SpaceGround, kind: SpaceKind): CellPlan {
  const { identity, cgroupJoins, architecture, memoryHeldByCgroup } = ground
  const firstSlot = cgroupJoins.length
  const readable = readablePaths(listSources(shape, ground.hostView))
  const program = seccompProgram({ architecture, memoryHeldByCgroup, keepsAdopting: true })
  const writable = kind === 'secure' ? [privateHome] : []
  const rights = { writable, protectedPorts: shape.network === 'host' ? (shape.protectedPorts ?? []) : [] }
  const records: PlanRecord[] = [
    ...cgroupJoins.map((path, folder): PlanRecord => ({
      do: 'open-at',
      slot: firstSlot + folder,
      folder,
      path,
    })),
    { do: 'clone', flags: spaceNamespaces(shape.network) },
    // Its pid 1 stays in the cgroup of the sandbox's own cell, where guests use nothing up.
    ...cgroupJoins.map((_, folder): PlanRecord => ({ do: 'guest-join', slot: firstSlot + folder })),
    { do: 'guard' },
    { do: 'private' },
    ...planSandboxMounts(shape, { hasHome: kind === 'secure' }),
    ...(shape.network === 'none' ? [{ do: 'loopback' } as const] : []),
    { do: 'hostname', name: 'cell' },
    ...(identity.kind === 'own' ? [{ do: 'guest-ids', uid: guestId, gid: guestId } as const] : []),
    { do: 'guest-landlock', policy: planLandlock([...readable, '/etc', '/opt/lazaret'], rights) },
    { do: 'guest-filter', program },
    // Last of all that mounts: under Landlock nobody may.
    { do: 'restrict' },
    { do: 'keep-capabilities', mask: capabilitiesOfSpace(identity.kind) },
    { do: 'serve' },
  ]
  return behindNamespaces(records, ground.around)
}
