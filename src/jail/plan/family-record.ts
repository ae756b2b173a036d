/** The record of a cell in which guests are forked. */
import type { PayloadWriter } from '../launch/frames.ts'

/** The last one of its plan. */
export interface FamilyRecord {
  readonly do: 'family'
  /** Where the cell listens, and where the folders of its spaces' cgroups begin. */
  readonly listenSlot: number
  readonly firstFolderSlot: number
  readonly folders: number
  /** What each connection has to send. */
  readonly secret: Uint8Array
  readonly capabilities: bigint
  readonly folder: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** The reading half is step_family in native/cell/nursery/family.c. */
export function encodeFamily(record: FamilyRecord, payload: PayloadWriter): PayloadWriter {
  const [file = ''] = record.argv
  payload.u32(record.listenSlot).u32(record.firstFolderSlot).u32(record.folders)
  payload.bytes(record.secret).u64(record.capabilities).string(record.folder).string(file)
  const environment = Object.entries(record.env).map(([name, value]) => `${name}=${value}`)
  for (const strings of [record.argv, environment]) {
    payload.u32(strings.length)
    for (const text of strings) payload.string(text)
  }
  return payload
}
