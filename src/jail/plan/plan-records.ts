/**
 * The plan's records: everything that the launcher can do. A record's number is its place in this list; a test
 * compares it with the list in native/cell/build/plan.c.
 */
import { encodeClaim } from './claim-record.ts'
import type { ClaimRecord } from './claim-record.ts'
import { encodeFamily } from './family-record.ts'
import type { FamilyRecord } from './family-record.ts'
import { encodeLandlock } from './encode-landlock.ts'
import { PayloadWriter } from '../launch/frames.ts'
import type { LandlockPolicy } from './landlock.ts'
import type { DividedTmpfsRecord } from './divided-tmpfs.ts'
import { encodeDividedTmpfs } from './divided-tmpfs.ts'
import type { DoorRecord } from './door-records.ts'
import { encodeDoor } from './door-records.ts'
import type { OwnViewRecord } from './own-view-record.ts'

export const recordNames = [
  'open-tree',
  'open-write',
  'id-maps',
  'become',
  'clone',
  'join',
  'set-ids',
  'guard',
  'unshare',
  'private',
  'root',
  'directory',
  'file',
  'symlink',
  'bind',
  'mount',
  'pivot',
  'mask',
  'read-only',
  'set-attributes',
  'root-guard',
  'loopback',
  'hostname',
  'guest-ids',
  'guest-filter',
  'guest-landlock',
  'keep-capabilities',
  'serve',
  'work',
  'take-ids',
  'confine',
  'warden',
  'remove',
  'listen',
  'open-folder',
  'open-at',
  'guest-join',
  'forks',
  'family',
  'restrict',
  'open-workspace',
  'claim-ids',
  'open-lower',
  'own-view',
  'bind-own',
  'count-locks',
  'setting',
  'divided-tmpfs',
  'reach-relay',
  'door',
] as const

/** One step of building a cell. Slots number the descriptors that are opened ahead of the mounts. */
export type PlanRecord =
  | { readonly do: 'open-tree'; readonly slot: number; readonly path: string; readonly attributes: number }
  | {
      readonly do: 'open-workspace'
      readonly slot: number
      readonly path: string
      /** The guest's id on the host; 0 if it owns the folder. */
      readonly uid: number
      readonly gid: number
    }
  | { readonly do: 'open-write' | 'open-folder'; readonly slot: number; readonly path: string }
  | { readonly do: 'open-at'; readonly slot: number; readonly folder: number; readonly path: string }
  | { readonly do: 'listen'; readonly slot: number; readonly name: string }
  | {
      readonly do: 'id-maps'
      readonly uidMap: string
      readonly gidMap: string
      readonly denySetgroups: boolean
    }
  | { readonly do: 'become' | 'set-ids' | 'guest-ids'; readonly uid: number; readonly gid: number }
  | { readonly do: 'clone' | 'unshare'; readonly flags: number }
  | { readonly do: 'join' | 'guest-join'; readonly slot: number }
  | { readonly do: 'guard' | 'private' | 'pivot' | 'loopback' | 'serve' | 'warden' | 'restrict' }
  | { readonly do: 'forks'; readonly root: string }
  | { readonly do: 'confine'; readonly needsScope: boolean }
  | {
      readonly do: 'work'
      readonly path: string
      readonly uid: number
      readonly gid: number
      readonly bytesMax: number
      readonly entriesMax: number
    }
  | { readonly do: 'take-ids'; readonly uid: number; readonly gid: number; readonly mask: bigint }
  | { readonly do: 'root'; readonly at: string; readonly options: string; readonly inside: string }
  | { readonly do: 'directory'; readonly path: string; readonly mode: number }
  | { readonly do: 'file'; readonly path: string; readonly mode: number; readonly content: Uint8Array }
  | { readonly do: 'symlink'; readonly target: string; readonly path: string }
  | { readonly do: 'bind'; readonly slot: number; readonly path: string }
  | OwnViewRecord
  | DividedTmpfsRecord
  | DoorRecord
  | {
      readonly do: 'mount'
      readonly type: string
      readonly path: string
      readonly flags: number
      readonly options: string
    }
  | { readonly do: 'mask' | 'root-guard'; readonly path: string }
  | { readonly do: 'count-locks'; readonly path: string; readonly most: number }
  | { readonly do: 'setting'; readonly path: string; readonly value: string }
  | { readonly do: 'remove'; readonly path: string; readonly endsGuests: boolean }
  | { readonly do: 'read-only' | 'set-attributes'; readonly path: string; readonly attributes: number }
  | ClaimRecord
  | { readonly do: 'hostname'; readonly name: string }
  | { readonly do: 'guest-filter'; readonly program: Uint8Array }
  | { readonly do: 'guest-landlock'; readonly policy: LandlockPolicy }
  | { readonly do: 'keep-capabilities'; readonly mask: bigint }
  | FamilyRecord

/**
 * Cached, because most records of a plan are those of the plan before it. Records of one cell alone are not: the cell
 * would hold their bytes for as long as it lasts. Undefined at first, then the bytes.
 */
const encodedBefore = new WeakMap<PlanRecord, Buffer | undefined>()

export function encodePlan(records: readonly PlanRecord[]): Buffer {
  return Buffer.concat(records.map(encodeOnce))
}

function encodeOnce(record: PlanRecord): Buffer {
  const known = encodedBefore.get(record)
  if (known !== undefined) return known
  const operation = recordNames.indexOf(record.do) + 1
  const encoded = new PayloadWriter().u32(operation).bytes(encodeRecord(record)).finish()
  encodedBefore.set(record, encodedBefore.has(record) ? encoded : undefined)
  return encoded
}

/** For messages: what a record was about to touch. */
export function describeRecord(record: PlanRecord): string {
  return 'path' in record ? `${record.do} ${record.path}` : record.do
}

function encodeRecord(record: PlanRecord): Buffer {
  const payload = new PayloadWriter()
  switch (record.do) {
    case 'open-tree':
      return payload.u32(record.slot).string(record.path).u64(record.attributes).finish()
    case 'open-write':
    case 'open-folder':
      return payload.u32(record.slot).string(record.path).finish()
    case 'id-maps':
      return payload.string(record.uidMap).string(record.gidMap).u32(Number(record.denySetgroups)).finish()
    case 'become':
    case 'set-ids':
    case 'guest-ids':
      return payload.u32(record.uid).u32(record.gid).finish()
    case 'clone':
    case 'unshare':
      return payload.u64(record.flags).finish()
    case 'join':
    case 'guest-join':
      return payload.u32(record.slot).finish()
    case 'confine':
      return payload.u32(Number(record.needsScope)).finish()
    case 'guard':
    case 'private':
    case 'pivot':
    case 'loopback':
    case 'serve':
    case 'warden':
    case 'restrict':
      return payload.finish()
    case 'work':
      payload.string(record.path).u32(record.uid).u32(record.gid)
      return payload.u64(record.bytesMax).u64(record.entriesMax).finish()
    case 'root':
      return payload.string(record.at).string(record.options).string(record.inside).finish()
    case 'directory':
      return payload.string(record.path).u32(record.mode).finish()
    case 'file':
      return payload.string(record.path).u32(record.mode).bytes(record.content).finish()
    case 'symlink':
      return payload.string(record.target).string(record.path).finish()
    case 'bind':
      return payload.u32(record.slot).string(record.path).finish()
    case 'mount':
      return payload.string(record.type).string(record.path).u64(record.flags).string(record.options).finish()
    case 'read-only':
    case 'set-attributes':
      return payload.string(record.path).u64(record.attributes).finish()
    case 'mask':
    case 'root-guard':
      return payload.string(record.path).finish()
    case 'remove':
      return payload.string(record.path).u32(Number(record.endsGuests)).finish()
    case 'hostname':
      return payload.string(record.name).finish()
    default:
      return encodeSpecial(record, payload)
  }
}

type Special =
  | OwnViewRecord
  | DividedTmpfsRecord
  | DoorRecord
  | ClaimRecord
  | Extract<
      PlanRecord,
      {
        do:
          | 'open-workspace'
          | 'guest-filter'
          | 'guest-landlock'
          | 'keep-capabilities'
          | 'take-ids'
          | 'open-at'
          | 'listen'
          | 'forks'
          | 'count-locks'
          | 'setting'
          | 'family'
      }
    >

function encodeSpecial(record: Special, payload: PayloadWriter): Buffer {
  switch (record.do) {
    case 'open-workspace':
      return payload.u32(record.slot).string(record.path).u32(record.uid).u32(record.gid).finish()
    case 'open-lower':
      return payload.u32(record.slot).string(record.path).finish()
    case 'own-view':
      payload.u32(record.slot).string(record.path).string(record.empty)
      return payload.u64(record.attributes).finish()
    case 'bind-own':
      return payload.string(record.at).string(record.source).string(record.path).finish()
    case 'take-ids':
      return payload.u32(record.uid).u32(record.gid).u64(record.mask).finish()
    case 'guest-filter':
      return payload.bytes(record.program).finish()
    case 'guest-landlock':
      return encodeLandlock(record.policy)
    case 'keep-capabilities':
      return payload.u64(record.mask).finish()
    case 'open-at':
      return payload.u32(record.slot).u32(record.folder).string(record.path).finish()
    case 'listen':
      return payload.u32(record.slot).string(record.name).finish()
    case 'count-locks':
      return payload.string(record.path).u32(record.most).finish()
    case 'setting':
      return payload.string(record.path).string(record.value).finish()
    case 'forks':
      return payload.string(record.root).finish()
    case 'claim-ids':
      return encodeClaim(record, payload)
    case 'divided-tmpfs':
      return encodeDividedTmpfs(record, payload)
    case 'reach-relay':
    case 'door':
      return encodeDoor(record, payload)
    case 'family':
      return encodeFamily(record, payload)
  }
}
