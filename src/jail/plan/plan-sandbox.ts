/**
 * The plan of a sandbox's spaces. The sandbox's own cell is planned as a family's cell without a zygote
 * (plan-family.ts). Its pid 1 is the control space: it runs no guest, and starts these spaces side by side below
 * itself. They share the workspace and nothing else. Pure, like planCell.
 */
import { capabilitiesOfSpace } from './capabilities.ts'
import { planDoor } from './door-records.ts'
import { planGuestFilters } from './guest-filters.ts'
import { planOwnMounts, sharedMemoryMount } from './mounts.ts'
import { firstSpaceNamespaces, spaceNamespaces } from './namespaces.ts'
import { behindNamespaces } from './plan.ts'
import type { CellPlan } from './plan.ts'
import type { PlanRecord } from './plan-records.ts'
import { passingBytes } from '../limits/disk.ts'
import { guestHome } from './place.ts'
import { Remembered } from '../machine/remembered.ts'
import { planPassingDisks } from './sandbox-disk.ts'
import { guestId } from './shape.ts'
import type { CellShape, HostView } from './shape.ts'
import { readablePaths } from '../view/sources.ts'
import type { SpaceGround } from './plan-family.ts'

/**
 * `user` is for all commands without credentials; a `secure` one is for one command, with its own HOME; a `context` is for
 * one code context, with the HOME of commands.
 */
export type SpaceKind = 'user' | 'secure' | 'context'

export function planSandboxSpace(shape: CellShape, ground: SpaceGround, kind: SpaceKind): CellPlan {
  const { identity, cgroupJoins, architecture, memoryHeldByCgroup } = ground
  const firstSlot = cgroupJoins.length
  // A code context has its own space, which ends with it and its forks.
  const keepsAdopting = kind === 'context' ? 'splits' : true
  const readable = readablePaths(shape, ground.hostView)
  const shown = [...readable, ...systemParts(ground.hostView)]
  const rights = {
    writable: [guestHome, '/run'],
    protectedPorts: shape.network === 'host' ? (shape.protectedPorts ?? []) : [],
  }
  const records: PlanRecord[] = [
    ...cgroupJoins.map((path, folder): PlanRecord => ({
      do: 'open-at',
      slot: firstSlot + folder,
      folder,
      path,
    })),
    { do: 'clone', flags: kind === 'user' ? firstSpaceNamespaces : spaceNamespaces(shape.network) },
    // Its pid 1 stays in the cgroup of the sandbox's own cell, so guests cannot use up its limits.
    ...cgroupJoins.map((_, folder): PlanRecord => ({ do: 'guest-join', slot: firstSlot + folder })),
    { do: 'guard' },
    ...planWritable(shape, kind),
    ...(shape.network === 'none' ? [{ do: 'loopback' } as const] : []),
    ...planDoor(ground.edge),
    { do: 'hostname', name: 'cell' },
    ...(identity.kind === 'own' ? [{ do: 'guest-ids', uid: guestId, gid: guestId } as const] : []),
    ...planGuestFilters(shown, { architecture, memoryHeldByCgroup, keepsAdopting }, rights),
    // After the last mount, because under Landlock no process may mount.
    { do: 'restrict' },
    { do: 'keep-capabilities', mask: capabilitiesOfSpace(identity.kind) },
    { do: 'serve' },
  ]
  return behindNamespaces(records, ground.around)
}

const writableMounts = new Remembered<readonly PlanRecord[]>()

function planWritable(shape: CellShape, kind: SpaceKind): readonly PlanRecord[] {
  const { diskBytes, network } = shape
  // The first space has the network of its cell, whose own plan has set it.
  const hasNetwork = network === 'none' && kind !== 'user'
  return writableMounts.get([diskBytes, network, kind], () =>
    planOwnMounts(
      [
        { do: 'mount', type: 'tmpfs', ...sharedMemoryMount(passingBytes(diskBytes)) },
        ...planPassingDisks(shape, { hasHome: kind === 'secure' }),
      ],
      { hasNetwork },
    ),
  )
}

/** Folders of the root for the parts of the system that only sandboxes show. */
function systemParts({ texts }: HostView): string[] {
  return Object.keys(texts).some((path) => path.startsWith('/sys/')) ? ['/sys'] : []
}
