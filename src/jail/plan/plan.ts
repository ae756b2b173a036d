/**
 * The plan of a cell: the records that build it, in order. Pure: the same shape and ground give the same records.
 */
import { capabilitiesOfPid1 } from './capabilities.ts'
import { planDoor, planRelay } from './door-records.ts'
import { planGuestFilters } from './guest-filters.ts'
import { layersOf, promisesOf } from '../layers/layers.ts'
import { planMounts } from './mounts.ts'
import { cellNamespaces, cgroupNamespace } from './namespaces.ts'
import type { PlanRecord } from './plan-records.ts'
import { guestId } from './shape.ts'
import type { CellGround, CellIdentity, CellShape, Wall } from './shape.ts'
import { planReadAhead } from '../view/read-ahead.ts'
import type { SourceFacts } from '../view/sources.ts'

export interface CellPlan {
  readonly wall: Wall
  readonly records: readonly PlanRecord[]
  /** Names of the layers that these records build, for the receipt. */
  readonly layers: readonly string[]
  /** What the kernel must report about every guest in /proc/<pid>/status. */
  readonly promises: Readonly<Record<string, string>>
}

export function planCell(shape: CellShape, ground: CellGround, facts: SourceFacts): CellPlan {
  const { identity, cgroupJoins, hostView, architecture, memoryHeldByCgroup } = ground
  const firstSlot = cgroupJoins.length
  const { kind } = identity
  const place = { view: hostView, kind, firstSlot, facts, memoryHeldByCgroup }
  const { holds, mounts, readable } = planMounts(shape, place)
  const records: PlanRecord[] = [
    ...planReadAhead(ground),
    ...cgroupJoins.map((path, slot): PlanRecord => ({ do: 'open-write', slot, path })),
    ...(kind === 'own' ? holds : []),
    ...planRelay(ground.edge?.relay),
    ...planCellIdentity(identity),
    { do: 'clone', flags: cellNamespaces(shape.network) },
    ...cgroupJoins.map((_, slot): PlanRecord => ({ do: 'join', slot })),
    ...(identity.kind === 'own' ? [{ do: 'set-ids', uid: 0, gid: 0 } as const] : []),
    { do: 'guard' },
    { do: 'unshare', flags: cgroupNamespace },
    { do: 'private' },
    ...(kind === 'shared' ? holds : []),
    ...mounts,
    ...(shape.network === 'none' ? [{ do: 'loopback' } as const] : []),
    ...planDoor(ground.edge),
    { do: 'hostname', name: 'cell' },
    ...(identity.kind === 'own' ? [{ do: 'guest-ids', uid: guestId, gid: guestId } as const] : []),
    ...planGuestFilters(readable, { architecture, memoryHeldByCgroup }),
    { do: 'keep-capabilities', mask: capabilitiesOfPid1(identity.kind) },
    { do: 'serve' },
  ]
  return behindNamespaces(records)
}

/** A plan with its layers; `around` are those of the cell that a space lies in. */
export function behindNamespaces(records: readonly PlanRecord[], around?: readonly string[]): CellPlan {
  const layers = layersOf(records, around)
  return { wall: 'namespaces', records, layers, promises: { ...promisesOf(layers), ...emptyBoundingSet } }
}

/** Pid 1 empties its bounding set for its guests. */
const emptyBoundingSet = { CapBnd: '0000000000000000' }

/** Maps are written from outside. No uid 0 for guests of an ordinary user: execve could hand capabilities back. */
export function planCellIdentity(identity: CellIdentity, guests = 1): PlanRecord[] {
  if (identity.kind === 'shared') {
    const map = (id: number) => `${guestId} ${id} 1`
    return [{ do: 'id-maps', uidMap: map(identity.uid), gidMap: map(identity.gid), denySetgroups: true }]
  }
  const { firstId } = identity
  const map = `0 ${firstId} 1\n${guestId} ${firstId + 1} ${guests}\n`
  return [
    { do: 'id-maps', uidMap: map, gidMap: map, denySetgroups: false },
    { do: 'become', uid: firstId, gid: firstId },
  ]
}
