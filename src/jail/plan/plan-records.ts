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
  'read-ahead',
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
  | { readonly do: 'mask' | 'root-guard' | 'forks' | 'read-ahead'; readonly path: string }
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

/** Records that many plans have in a row, and their bytes once some plan was encoded. */
interface SharedRow {
  readonly records: readonly PlanRecord[]
  bytes?: Uint8Array
}

/** By their first record. */
const sharedRows = new WeakMap<PlanRecord, SharedRow>()

/** Marks records that are encoded only once, wherever they occur in this order. */
export function shareRow<Row extends readonly PlanRecord[]>(records: Row): Row {
  const [first] = records
  if (first !== undefined) sharedRows.set(first, { records })
  return records
}

const usualBytes = 16 * 1024 // a plan has about 11 KiB

export function encodePlan(records: readonly PlanRecord[]): Buffer {
  const plan = new PayloadWriter(usualBytes)
  for (let at = 0; at < records.length;) {
    const record = records[at] as PlanRecord
    const row = sharedRows.get(record)
    const isWhole = row?.records.every((one, index) => one === records[at + index]) === true
    if (isWhole) plan.raw((row.bytes ??= encodeRow(row.records)))
    else encodeInto(plan, record)
    at += isWhole ? row.records.length : 1
  }
  return plan.finish()
}

/** The bytes are kept, so they are copied out of the pool of `Buffer`, of which they would keep 64 KiB alive. */
function encodeRow(records: readonly PlanRecord[]): Uint8Array {
  const payload = new PayloadWriter(usualBytes)
  for (const record of records) encodeInto(payload, record)
  return new Uint8Array(payload.finish())
}

function encodeInto(plan: PayloadWriter, record: PlanRecord): void {
  plan.u32(recordNames.indexOf(record.do) + 1).sized((payload) => encodeRecord(record, payload))
}

/** For messages: what a record was about to touch. */
export function describeRecord(record: PlanRecord): string {
  return 'path' in record ? `${record.do} ${record.path}` : record.do
}

function encodeRecord(record: PlanRecord, payload: PayloadWriter): unknown {
  switch (record.do) {
    case 'open-tree':
      return payload.u32(record.slot).string(record.path).u64(record.attributes)
    case 'open-write':
    case 'open-folder':
    case 'open-lower':
      return payload.u32(record.slot).string(record.path)
    case 'id-maps':
      return payload.string(record.uidMap).string(record.gidMap).u32(Number(record.denySetgroups))
    case 'become':
    case 'set-ids':
    case 'guest-ids':
      return payload.u32(record.uid).u32(record.gid)
    case 'clone':
    case 'unshare':
      return payload.u64(record.flags)
    case 'join':
    case 'guest-join':
      return payload.u32(record.slot)
    case 'confine':
      return payload.u32(Number(record.needsScope))
    case 'guard':
    case 'private':
    case 'pivot':
    case 'loopback':
    case 'serve':
    case 'warden':
    case 'restrict':
      return payload
    case 'work':
      payload.string(record.path).u32(record.uid).u32(record.gid)
      return payload.u64(record.bytesMax).u64(record.entriesMax)
    case 'root':
      return payload.string(record.at).string(record.options).string(record.inside)
    case 'directory':
      return payload.string(record.path).u32(record.mode)
    case 'file':
      return payload.string(record.path).u32(record.mode).bytes(record.content)
    case 'symlink':
      return payload.string(record.target).string(record.path)
    case 'bind':
      return payload.u32(record.slot).string(record.path)
    case 'mount':
      return payload.string(record.type).string(record.path).u64(record.flags).string(record.options)
    case 'read-only':
    case 'set-attributes':
      return payload.string(record.path).u64(record.attributes)
    case 'remove':
      return payload.string(record.path).u32(Number(record.endsGuests))
    case 'hostname':
      return payload.string(record.name)
    default:
      return encodeSpecial(record, payload)
  }
}

type Special =
  | Exclude<OwnViewRecord, { do: 'open-lower' }>
  | DividedTmpfsRecord
  | DoorRecord
  | ClaimRecord
  | Extract<PlanRecord, { do: 'mask' | 'root-guard' | 'forks' | 'read-ahead' }>
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
          | 'count-locks'
          | 'setting'
          | 'family'
      }
    >

function encodeSpecial(record: Special, payload: PayloadWriter): unknown {
  switch (record.do) {
    case 'open-workspace':
      return payload.u32(record.slot).string(record.path).u32(record.uid).u32(record.gid)
    case 'own-view':
      payload.u32(record.slot).string(record.path).string(record.empty)
      return payload.u64(record.attributes)
    case 'bind-own':
      return payload.string(record.at).string(record.source).string(record.path)
    case 'take-ids':
      return payload.u32(record.uid).u32(record.gid).u64(record.mask)
    case 'guest-filter':
      return payload.bytes(record.program)
    case 'guest-landlock':
      return encodeLandlock(record.policy, payload)
    case 'keep-capabilities':
      return payload.u64(record.mask)
    case 'open-at':
      return payload.u32(record.slot).u32(record.folder).string(record.path)
    case 'listen':
      return payload.u32(record.slot).string(record.name)
    case 'mask':
    case 'root-guard':
    case 'forks':
    case 'read-ahead':
      return payload.string(record.path)
    case 'count-locks':
      return payload.string(record.path).u32(record.most)
    case 'setting':
      return payload.string(record.path).string(record.value)
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
