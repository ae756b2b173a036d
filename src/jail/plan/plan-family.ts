/**
 * The plans of a cell in which guests are forked, and of its spaces. The cell is built like any other, with a zygote instead
 * of guests. A space is what each guest has for itself: processes, mounts, network, IPC, host name, cgroup and, where the
 * machine has ids to give, an id. Pure, like planCell.
 */
import { capabilitiesOfFamily, capabilitiesOfSpace, capabilitiesOfZygote } from './capabilities.ts'
import { planDoor, planRelay } from './door-records.ts'
import type { RelayGround } from './door-records.ts'
import { planGuestFilters } from './guest-filters.ts'
import { guestRoot, planMounts, planSpaceMounts, planWorkspaceSource } from './mounts.ts'
import { cgroupNamespace, spaceNamespaces } from './namespaces.ts'
import { behindNamespaces, planCellIdentity } from './plan.ts'
import type { CellPlan } from './plan.ts'
import type { PlanRecord } from './plan-records.ts'
import { cellNamespaces } from './namespaces.ts'
import { seccompProgram } from '../seccomp/program.ts'
import { guestId } from './shape.ts'
import type { CellGround, CellShape } from './shape.ts'
import { planReadAhead } from '../view/read-ahead.ts'
import { readablePaths } from '../view/sources.ts'
import type { SourceFacts } from '../view/sources.ts'

export interface Family {
  /** The abstract name on which the cell listens, in the host's network namespace, without the NUL before it. */
  readonly name: string
  readonly secret: Uint8Array
  /** Where the host makes the cgroups of spaces. */
  readonly cgroupFolders: readonly string[]
  /** If its spaces may have doors. */
  readonly relay?: RelayGround | undefined
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
}

/** `shape.guests` is the number of spaces at one time; the ground has one id more than that where it has its own. */
export function planFamily(
  shape: CellShape,
  ground: CellGround,
  { family, facts }: { readonly family: Family; readonly facts: SourceFacts },
): CellPlan {
  const { identity, cgroupJoins, hostView, architecture } = ground
  const firstFolderSlot = cgroupJoins.length
  const listenSlot = firstFolderSlot + family.cgroupFolders.length
  const firstSlot = listenSlot + 1
  const { memoryHeldByCgroup } = ground
  const place = { view: hostView, kind: identity.kind, firstSlot, facts, memoryHeldByCgroup }
  const mounted = planMounts(shape, place)
  const workspace =
    shape.workspace === undefined ? [] : [planWorkspaceSource(shape.workspace, mounted.nextSlot, identity)]
  const sources = [...mounted.holds, ...workspace]
  const records: PlanRecord[] = [
    ...planReadAhead(ground),
    ...cgroupJoins.map((path, slot): PlanRecord => ({ do: 'open-write', slot, path })),
    ...family.cgroupFolders.map((path, index): PlanRecord => ({
      do: 'open-folder',
      slot: firstFolderSlot + index,
      path,
    })),
    { do: 'listen', slot: listenSlot, name: family.name },
    ...(identity.kind === 'own' ? sources : []),
    ...planRelay(family.relay),
    ...planCellIdentity(identity, shape.guests),
    { do: 'clone', flags: cellNamespaces(shape.network) },
    ...cgroupJoins.map((_, slot): PlanRecord => ({ do: 'join', slot })),
    ...(identity.kind === 'own' ? [{ do: 'set-ids', uid: 0, gid: 0 } as const] : []),
    { do: 'guard' },
    // Without a cgroup namespace: from inside one, cgroup version 2 allows no move to a group outside.
    { do: 'private' },
    ...(identity.kind === 'shared' ? sources : []),
    ...mounted.mounts,
    ...(shape.network === 'none' ? [{ do: 'loopback' } as const] : []),
    { do: 'hostname', name: 'cell' },
    {
      do: 'guest-filter',
      program: seccompProgram({ architecture, memoryHeldByCgroup: true, entersSpaces: true }),
    },
    {
      do: 'keep-capabilities',
      mask: capabilitiesOfFamily(identity.kind, { hasDoors: family.relay !== undefined }),
    },
    {
      do: 'family',
      listenSlot,
      firstFolderSlot,
      folders: family.cgroupFolders.length,
      secret: family.secret,
      capabilities: capabilitiesOfZygote(identity.kind),
      folder: family.folder,
      argv: family.argv,
      env: family.env,
    },
  ]
  return { ...behindNamespaces(records), promises: {} }
}

export interface SpaceGround extends Omit<CellGround, 'cgroupJoins'> {
  /** Which of the cell's guests it is for, from 0. */
  readonly guest: number
  /** The layers of the cell that it lies in. */
  readonly around?: readonly string[]
  /** Below the cell's folders of cgroups, in their order. */
  readonly cgroupJoins: readonly string[]
}

/** If `isForked`, its guest is a fork of the zygote; otherwise it is started. */
export function planSpace(
  shape: CellShape,
  ground: SpaceGround,
  { isForked }: { readonly isForked: boolean },
): CellPlan {
  const { identity, cgroupJoins, architecture, memoryHeldByCgroup } = ground
  const owner = identity.kind === 'own' ? guestId + ground.guest : guestId
  const folders = cgroupJoins.length
  const open = (firstSlot: number) =>
    cgroupJoins.map((path, folder): PlanRecord => ({ do: 'open-at', slot: firstSlot + folder, folder, path }))
  const readable = readablePaths(shape, ground.hostView)
  const records: PlanRecord[] = [
    ...open(folders),
    ...(isForked ? open(2 * folders) : []), // for the fork, which is not yet a child of pid 1 when it joins
    { do: 'clone', flags: spaceNamespaces(shape.network) },
    ...cgroupJoins.map((_, index): PlanRecord => ({ do: 'join', slot: folders + index })),
    ...(isForked
      ? cgroupJoins.map((_, index): PlanRecord => ({ do: 'guest-join', slot: 2 * folders + index }))
      : []),
    { do: 'guard' },
    { do: 'unshare', flags: cgroupNamespace },
    ...planSpaceMounts(shape, owner),
    ...(shape.network === 'none' ? [{ do: 'loopback' } as const] : []),
    ...planDoor(ground.edge),
    { do: 'hostname', name: 'cell' },
    ...(identity.kind === 'own' ? [{ do: 'guest-ids', uid: owner, gid: owner } as const] : []),
    ...planGuestFilters(readable, { architecture, memoryHeldByCgroup }),
    ...(isForked ? [{ do: 'forks', path: guestRoot } as const] : []),
    { do: 'keep-capabilities', mask: capabilitiesOfSpace(identity.kind) },
    { do: 'serve' },
  ]
  return behindNamespaces(records, ground.around)
}
